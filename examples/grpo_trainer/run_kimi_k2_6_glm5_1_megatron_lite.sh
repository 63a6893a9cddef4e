#!/usr/bin/env bash
# GRPO | Kimi K2.6, GLM 5.1 | vLLM rollout | Megatron Lite training | GPU
#
# Start Ray on all nodes, then run it once, on the head node:
#
#   MODEL_PATH=/models/Kimi-K2.6 bash examples/grpo_trainer/run_kimi_k2_6_glm5_1_megatron_lite.sh
#
# Arguments are passed on to the trainer as Hydra overrides, after those of this
# script.
#
# MODEL_VARIANT selects the model; both train on 32 nodes (256 GPUs) with
# PP8 EP8 CP8, dp 4, edp 4:
#   - kimi_k2_6: TP may be any divisor of its 64 heads
#   - glm5_1:    keep TP1 and ETP1, Megatron Lite has no tensor parallelism for it
#
# OPTIMIZER selects the optimizer backend of Megatron Lite:
#   - fsdp2:    sharded parameters, the lowest memory (default)
#   - dist_opt: the distributed optimizer of Megatron-Core; give it a larger PP*EP
#
# The fused sparse-attention kernels of GLM 5.1 need nvidia-cutlass-dsl==4.5.2 and
# nvidia-cudnn-frontend; on Hopper a build of the latter with IndexerForwardSm90.
# Installation and all variables: docs/advance/megatron_lite_backend.rst

set -xeuo pipefail

########################### mlite backend knobs ###########################
MLITE_ROOT=${MLITE_ROOT:-$HOME/mlite}
MLITE_VERL_ROOT=${MLITE_VERL_ROOT:-${MLITE_ROOT}/experimental/lite/examples/verl}
MLITE_LITE_ROOT=${MLITE_LITE_ROOT:-${MLITE_ROOT}/experimental/lite}
VERL_ROOT=${VERL_ROOT:-} # a source tree of verl; empty means the installed one

MODEL_VARIANT=${MODEL_VARIANT:-kimi_k2_6} # kimi_k2_6, glm5_1
OPTIMIZER=${OPTIMIZER:-fsdp2}             # fsdp2, dist_opt
ALL_OFFLOAD=${ALL_OFFLOAD:-True}

case "${MODEL_VARIANT}" in
    kimi_k2_6)
        # K2.6 is K2's architecture; its checkpoint may name another model type.
        MLITE_MODEL_NAME=${MLITE_MODEL_NAME:-kimi_k2}
        ;;
    glm5_1)
        MLITE_MODEL_NAME=${MLITE_MODEL_NAME:-glm5}
        ;;
    *)
        echo "Unknown MODEL_VARIANT=${MODEL_VARIANT}: use kimi_k2_6 or glm5_1." >&2
        exit 1
        ;;
esac
NNODES=${NNODES:-32}
NDEVICES_PER_NODE=${NDEVICES_PER_NODE:-8}
TP=${TP:-1}
PP=${PP:-8}
EP=${EP:-8}
CP=${CP:-8}
ETP=${ETP:-1}
########################### end mlite backend knobs ###########################

########################### user-adjustable ###########################
MODEL_PATH=${MODEL_PATH:?set it to the directory of the checkpoint, one that every node sees}

TRAIN_FILE=${TRAIN_FILE:-$HOME/data/gsm8k/train.parquet}
TEST_FILE=${TEST_FILE:-$HOME/data/gsm8k/test.parquet}
TRAIN_BATCH_SIZE=${TRAIN_BATCH_SIZE:-128}
PPO_MINI_BATCH_SIZE=${PPO_MINI_BATCH_SIZE:-32}
MAX_PROMPT_LENGTH=${MAX_PROMPT_LENGTH:-1024}
MAX_RESPONSE_LENGTH=${MAX_RESPONSE_LENGTH:-2048}
# Times CP, the tokens of a micro batch: at least one sequence of full length.
PPO_MAX_TOKEN_LEN_PER_GPU=${PPO_MAX_TOKEN_LEN_PER_GPU:-$((MAX_PROMPT_LENGTH + MAX_RESPONSE_LENGTH))}

ACTOR_LR=${ACTOR_LR:-1e-6}
CLIP_RATIO_LOW=${CLIP_RATIO_LOW:-0.2}
CLIP_RATIO_HIGH=${CLIP_RATIO_HIGH:-0.28}
CLIP_RATIO_C=${CLIP_RATIO_C:-10.0}
ENTROPY_COEFF=${ENTROPY_COEFF:-0}

INFER_BACKEND=${INFER_BACKEND:-vllm}
# A replica spans ROLLOUT_TP * ROLLOUT_DP GPUs, enough to hold the experts in bfloat16.
ROLLOUT_TP=${ROLLOUT_TP:-8}
ROLLOUT_DP=${ROLLOUT_DP:-8}
ROLLOUT_GPU_MEM_UTIL=${ROLLOUT_GPU_MEM_UTIL:-0.6}
ROLLOUT_N=${ROLLOUT_N:-16}

SAVE_FREQ=${SAVE_FREQ:-20}
TEST_FREQ=${TEST_FREQ:-5}
TOTAL_EPOCHS=${TOTAL_EPOCHS:-1}
LOGGER=${LOGGER:-console} # console,wandb
PROJECT_NAME=${PROJECT_NAME:-verl_mlite_grpo_gsm8k}
EXPERIMENT_NAME=${EXPERIMENT_NAME:-${MODEL_VARIANT}_${OPTIMIZER}}
########################### end user-adjustable ###########################

########################### derived defaults ###########################
case "${OPTIMIZER}" in
    fsdp2 | dist_opt) ;;
    *)
        echo "Unknown OPTIMIZER=${OPTIMIZER}: use fsdp2 or dist_opt." >&2
        exit 1
        ;;
esac

for size in NNODES NDEVICES_PER_NODE TP PP EP CP ETP; do
    if [[ ! "${!size}" =~ ^[1-9][0-9]*$ ]]; then
        echo "Invalid mesh: ${size}=${!size} is not a positive integer." >&2
        exit 1
    fi
done

# Two decompositions of the same GPUs, as Megatron Lite builds them:
#   world = dp * tp * cp * pp (dense part) = edp * etp * ep * pp (experts)
NGPU=$((NNODES * NDEVICES_PER_NODE))
if ((NGPU % (TP * CP * PP) != 0)); then
    echo "Invalid mesh: NGPU=${NGPU} is not a multiple of TP*CP*PP=$((TP * CP * PP))." >&2
    exit 1
fi
if ((NGPU % (ETP * EP * PP) != 0)); then
    echo "Invalid mesh: NGPU=${NGPU} is not a multiple of ETP*EP*PP=$((ETP * EP * PP))." >&2
    exit 1
fi
DP=$((NGPU / (TP * CP * PP)))
EDP=$((NGPU / (ETP * EP * PP)))
echo "MLITE_MESH model=${MODEL_VARIANT} ngpu=${NGPU} pp=${PP} tp=${TP} cp=${CP} dp=${DP} ep=${EP} etp=${ETP} edp=${EDP} optimizer=${OPTIMIZER}"

ROLLOUT_EP=$((ROLLOUT_TP * ROLLOUT_DP))

export PYTHONPATH="${MLITE_VERL_ROOT}:${MLITE_LITE_ROOT}:${MLITE_ROOT}${VERL_ROOT:+:${VERL_ROOT}}${PYTHONPATH:+:${PYTHONPATH}}"
export CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-1}"

########################### parameter arrays ###########################
ALGORITHM=(
    algorithm.adv_estimator=grpo
    algorithm.use_kl_in_reward=False
)

DATA=(
    data.train_files="${TRAIN_FILE}"
    data.val_files="${TEST_FILE}"
    data.train_batch_size="${TRAIN_BATCH_SIZE}"
    data.max_prompt_length="${MAX_PROMPT_LENGTH}"
    data.max_response_length="${MAX_RESPONSE_LENGTH}"
    data.filter_overlong_prompts=True
    data.truncation=error
)

MODEL=(
    actor_rollout_ref.model.path="${MODEL_PATH}"
    actor_rollout_ref.model.trust_remote_code=True
)

ACTOR=(
    actor@actor_rollout_ref.actor=mlite_actor
    actor_rollout_ref.actor.optim.lr="${ACTOR_LR}"
    actor_rollout_ref.actor.ppo_mini_batch_size="${PPO_MINI_BATCH_SIZE}"
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu="${PPO_MAX_TOKEN_LEN_PER_GPU}"
    actor_rollout_ref.actor.use_dynamic_bsz=True
    actor_rollout_ref.actor.use_kl_loss=False
    actor_rollout_ref.actor.entropy_coeff="${ENTROPY_COEFF}"
    actor_rollout_ref.actor.clip_ratio_low="${CLIP_RATIO_LOW}"
    actor_rollout_ref.actor.clip_ratio_high="${CLIP_RATIO_HIGH}"
    actor_rollout_ref.actor.clip_ratio_c="${CLIP_RATIO_C}"
    actor_rollout_ref.actor.loss_agg_mode=token-mean
    actor_rollout_ref.actor.engine.model_name="${MLITE_MODEL_NAME}"
    actor_rollout_ref.actor.engine.tp="${TP}"
    actor_rollout_ref.actor.engine.pp="${PP}"
    actor_rollout_ref.actor.engine.vpp=1
    actor_rollout_ref.actor.engine.ep="${EP}"
    actor_rollout_ref.actor.engine.cp="${CP}"
    actor_rollout_ref.actor.engine.etp="${ETP}"
    actor_rollout_ref.actor.engine.param_offload="${ALL_OFFLOAD}"
    actor_rollout_ref.actor.engine.optimizer_offload="${ALL_OFFLOAD}"
    actor_rollout_ref.actor.engine.grad_offload="${ALL_OFFLOAD}"
    +actor_rollout_ref.actor.engine.impl_cfg.optimizer="${OPTIMIZER}"
    +actor_rollout_ref.actor.engine.impl_cfg.recompute=full
)
if [[ "${OPTIMIZER}" == dist_opt ]]; then
    # Megatron-Core offloads its optimizer only through the precision-aware code path.
    ACTOR+=(+actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer=True)
fi

ROLLOUT=(
    actor_rollout_ref.rollout.name="${INFER_BACKEND}"
    actor_rollout_ref.rollout.tensor_model_parallel_size="${ROLLOUT_TP}"
    actor_rollout_ref.rollout.data_parallel_size="${ROLLOUT_DP}"
    actor_rollout_ref.rollout.expert_parallel_size="${ROLLOUT_EP}"
    actor_rollout_ref.rollout.gpu_memory_utilization="${ROLLOUT_GPU_MEM_UTIL}"
    actor_rollout_ref.rollout.n="${ROLLOUT_N}"
)

TRAINER=(
    trainer.logger="[${LOGGER}]"
    trainer.project_name="${PROJECT_NAME}"
    trainer.experiment_name="${EXPERIMENT_NAME}"
    trainer.val_before_train=False
    trainer.nnodes="${NNODES}"
    trainer.n_gpus_per_node="${NDEVICES_PER_NODE}"
    trainer.save_freq="${SAVE_FREQ}"
    trainer.test_freq="${TEST_FREQ}"
    trainer.total_epochs="${TOTAL_EPOCHS}"
)

EXTRA=(
    "hydra.searchpath=[pkg://verl_mlite.config]"
    +ray_kwargs.ray_init.runtime_env.env_vars.PYTHONPATH="${PYTHONPATH}"
)

########################### launch ###########################
python3 -m verl.trainer.main_ppo \
    "${EXTRA[@]}" \
    "${ALGORITHM[@]}" \
    "${DATA[@]}" \
    "${MODEL[@]}" \
    "${ACTOR[@]}" \
    "${ROLLOUT[@]}" \
    "${TRAINER[@]}" \
    "$@"
