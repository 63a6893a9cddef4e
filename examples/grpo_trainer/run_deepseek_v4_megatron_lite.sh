#!/usr/bin/env bash
# GRPO with DAPO's options | DeepSeek-V4 | vLLM rollout | Megatron Lite training | GPU
#
# Start Ray on all nodes, then run it once, on the head node:
#
#   MODEL_PATH=/models/DeepSeek-V4-Flash bash examples/grpo_trainer/run_deepseek_v4_megatron_lite.sh
#
# Arguments are passed on to the trainer as Hydra overrides, after those of this
# script.
#
# MODEL_VARIANT selects the checkpoint family and its mesh:
#   - flash: 16 nodes (128 GPUs), PP4 EP8  CP4, dp 8,  edp 4
#   - pro:   64 nodes (512 GPUs), PP8 EP16 CP4, dp 16, edp 4
# TP1 and ETP1 are fixed: Megatron Lite has no tensor parallelism for DeepSeek-V4.
#
# OPTIMIZER selects the optimizer backend of Megatron Lite:
#   - fsdp2:    sharded parameters, the lowest memory (default)
#   - dist_opt: the distributed optimizer of Megatron-Core; give it a larger PP*EP
#
# Of DAPO it takes the raised upper clip ratio (CLIP_RATIO_HIGH), the loss over
# tokens, and dynamic sampling: with FILTER_GROUPS=True, prompts whose responses
# all score the same are replaced by new ones before the update.
#
# The fused sparse-attention kernels need nvidia-cutlass-dsl==4.5.2 and
# nvidia-cudnn-frontend; on Hopper a build of the latter with IndexerForwardSm90.
# Installation and all variables: docs/advance/megatron_lite_backend.rst

set -xeuo pipefail

########################### mlite backend knobs ###########################
MLITE_ROOT=${MLITE_ROOT:-$HOME/mlite}
MLITE_VERL_ROOT=${MLITE_VERL_ROOT:-${MLITE_ROOT}/experimental/lite/examples/verl}
MLITE_LITE_ROOT=${MLITE_LITE_ROOT:-${MLITE_ROOT}/experimental/lite}
VERL_ROOT=${VERL_ROOT:-} # a source tree of verl; empty means the installed one

MODEL_VARIANT=${MODEL_VARIANT:-flash} # flash, pro
OPTIMIZER=${OPTIMIZER:-fsdp2}         # fsdp2, dist_opt
ALL_OFFLOAD=${ALL_OFFLOAD:-True}

# A rollout replica spans ROLLOUT_TP * ROLLOUT_DP GPUs, enough to hold the experts in bfloat16.
case "${MODEL_VARIANT}" in
    flash)
        NNODES=${NNODES:-16}
        PP=${PP:-4}
        EP=${EP:-8}
        CP=${CP:-4}
        ROLLOUT_DP=${ROLLOUT_DP:-2}
        ;;
    pro)
        NNODES=${NNODES:-64}
        PP=${PP:-8}
        EP=${EP:-16}
        CP=${CP:-4}
        ROLLOUT_DP=${ROLLOUT_DP:-8}
        ;;
    *)
        echo "Unknown MODEL_VARIANT=${MODEL_VARIANT}: use flash or pro." >&2
        exit 1
        ;;
esac
NDEVICES_PER_NODE=${NDEVICES_PER_NODE:-8}
########################### end mlite backend knobs ###########################

########################### user-adjustable ###########################
MODEL_PATH=${MODEL_PATH:?set it to the directory of the checkpoint, one that every node sees}

TRAIN_FILE=${TRAIN_FILE:-$HOME/data/dapo-math-17k.parquet}
TEST_FILE=${TEST_FILE:-$HOME/data/aime-2024.parquet}
TRAIN_BATCH_SIZE=${TRAIN_BATCH_SIZE:-128}
PPO_MINI_BATCH_SIZE=${PPO_MINI_BATCH_SIZE:-32}
MAX_PROMPT_LENGTH=${MAX_PROMPT_LENGTH:-2048}
MAX_RESPONSE_LENGTH=${MAX_RESPONSE_LENGTH:-8192}
# Times CP, the tokens of a micro batch: at least one sequence of full length.
PPO_MAX_TOKEN_LEN_PER_GPU=${PPO_MAX_TOKEN_LEN_PER_GPU:-$((MAX_PROMPT_LENGTH + MAX_RESPONSE_LENGTH))}

ACTOR_LR=${ACTOR_LR:-1e-6}
CLIP_RATIO_LOW=${CLIP_RATIO_LOW:-0.2}
CLIP_RATIO_HIGH=${CLIP_RATIO_HIGH:-0.28}
CLIP_RATIO_C=${CLIP_RATIO_C:-10.0}
ENTROPY_COEFF=${ENTROPY_COEFF:-0}
FILTER_GROUPS=${FILTER_GROUPS:-True}
FILTER_GROUPS_METRIC=${FILTER_GROUPS_METRIC:-acc}

INFER_BACKEND=${INFER_BACKEND:-vllm}
ROLLOUT_TP=${ROLLOUT_TP:-8}
ROLLOUT_GPU_MEM_UTIL=${ROLLOUT_GPU_MEM_UTIL:-0.6}
ROLLOUT_N=${ROLLOUT_N:-16}

SAVE_FREQ=${SAVE_FREQ:-20}
TEST_FREQ=${TEST_FREQ:-5}
TOTAL_EPOCHS=${TOTAL_EPOCHS:-1}
LOGGER=${LOGGER:-console} # console,wandb
PROJECT_NAME=${PROJECT_NAME:-verl_mlite_dapo_math}
EXPERIMENT_NAME=${EXPERIMENT_NAME:-deepseek_v4_${MODEL_VARIANT}_${OPTIMIZER}}
########################### end user-adjustable ###########################

########################### derived defaults ###########################
case "${OPTIMIZER}" in
    fsdp2 | dist_opt) ;;
    *)
        echo "Unknown OPTIMIZER=${OPTIMIZER}: use fsdp2 or dist_opt." >&2
        exit 1
        ;;
esac

TP=1
ETP=1

for size in NNODES NDEVICES_PER_NODE PP EP CP; do
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
echo "MLITE_MESH model=deepseek_v4_${MODEL_VARIANT} ngpu=${NGPU} pp=${PP} tp=${TP} cp=${CP} dp=${DP} ep=${EP} etp=${ETP} edp=${EDP} optimizer=${OPTIMIZER}"

ROLLOUT_EP=$((ROLLOUT_TP * ROLLOUT_DP))

export PYTHONPATH="${MLITE_VERL_ROOT}:${MLITE_LITE_ROOT}:${MLITE_ROOT}${VERL_ROOT:+:${VERL_ROOT}}${PYTHONPATH:+:${PYTHONPATH}}"
export CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-1}"

########################### parameter arrays ###########################
ALGORITHM=(
    algorithm.adv_estimator=grpo
    algorithm.use_kl_in_reward=False
    algorithm.filter_groups.enable="${FILTER_GROUPS}"
    algorithm.filter_groups.metric="${FILTER_GROUPS_METRIC}"
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
