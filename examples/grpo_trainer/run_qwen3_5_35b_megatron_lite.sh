#!/usr/bin/env bash
# GRPO | Qwen3.5-35B-A3B | vLLM rollout | Megatron Lite training | GPU
#
#   MODEL_PATH=/models/Qwen3.5-35B-A3B bash examples/grpo_trainer/run_qwen3_5_35b_megatron_lite.sh
#
# Arguments are passed on to the trainer as Hydra overrides, after those of this
# script.
#
# One node (8 GPUs), PP1 EP8 CP8, dp 1, edp 1. TP is 1 or 2: the two key-value
# heads are not replicated.
#
# GDN_CP_MODE selects how the linear-attention layers run under context parallelism:
#   - replicated: all-gather, every rank sees the whole sequence (default)
#   - headwise:   all-to-all over heads; CP must divide 16/TP
#   - chunkwise:  ring over chunks, the lowest memory
# All of them need flash-linear-attention 5.0, which PyPI numbers 0.5.0.
#
# OPTIMIZER selects the optimizer backend of Megatron Lite:
#   - fsdp2:    sharded parameters, the lowest memory (default)
#   - dist_opt: the distributed optimizer of Megatron-Core; give it a larger PP*EP
#
# Installation and all variables: docs/advance/megatron_lite_backend.rst

set -xeuo pipefail

########################### mlite backend knobs ###########################
MLITE_ROOT=${MLITE_ROOT:-$HOME/mlite}
MLITE_VERL_ROOT=${MLITE_VERL_ROOT:-${MLITE_ROOT}/experimental/lite/examples/verl}
MLITE_LITE_ROOT=${MLITE_LITE_ROOT:-${MLITE_ROOT}/experimental/lite}
VERL_ROOT=${VERL_ROOT:-} # a source tree of verl; empty means the installed one

OPTIMIZER=${OPTIMIZER:-fsdp2} # fsdp2, dist_opt
GDN_CP_MODE=${GDN_CP_MODE:-replicated}
ALL_OFFLOAD=${ALL_OFFLOAD:-True}

NNODES=${NNODES:-1}
NDEVICES_PER_NODE=${NDEVICES_PER_NODE:-8}
TP=${TP:-1}
PP=${PP:-1}
EP=${EP:-8}
CP=${CP:-8}
ETP=${ETP:-1}
########################### end mlite backend knobs ###########################

########################### user-adjustable ###########################
MODEL_PATH=${MODEL_PATH:?set it to the directory of the checkpoint, one that every node sees}

TRAIN_FILE=${TRAIN_FILE:-$HOME/data/gsm8k/train.parquet}
TEST_FILE=${TEST_FILE:-$HOME/data/gsm8k/test.parquet}
TRAIN_BATCH_SIZE=${TRAIN_BATCH_SIZE:-64}
PPO_MINI_BATCH_SIZE=${PPO_MINI_BATCH_SIZE:-32}
MAX_PROMPT_LENGTH=${MAX_PROMPT_LENGTH:-1024}
MAX_RESPONSE_LENGTH=${MAX_RESPONSE_LENGTH:-2048}
# Times CP, the tokens of a micro batch: at least one sequence of full length.
PPO_MAX_TOKEN_LEN_PER_GPU=${PPO_MAX_TOKEN_LEN_PER_GPU:-$((MAX_PROMPT_LENGTH + MAX_RESPONSE_LENGTH))}

ACTOR_LR=${ACTOR_LR:-1e-6}
ENTROPY_COEFF=${ENTROPY_COEFF:-0}

INFER_BACKEND=${INFER_BACKEND:-vllm}
ROLLOUT_TP=${ROLLOUT_TP:-4}
ROLLOUT_GPU_MEM_UTIL=${ROLLOUT_GPU_MEM_UTIL:-0.6}
ROLLOUT_N=${ROLLOUT_N:-8}

SAVE_FREQ=${SAVE_FREQ:-20}
TEST_FREQ=${TEST_FREQ:-5}
TOTAL_EPOCHS=${TOTAL_EPOCHS:-15}
LOGGER=${LOGGER:-console} # console,wandb
PROJECT_NAME=${PROJECT_NAME:-verl_mlite_grpo_gsm8k}
EXPERIMENT_NAME=${EXPERIMENT_NAME:-qwen3_5_35b_${OPTIMIZER}}
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
echo "MLITE_MESH model=qwen3_5_35b ngpu=${NGPU} pp=${PP} tp=${TP} cp=${CP} dp=${DP} ep=${EP} etp=${ETP} edp=${EDP} optimizer=${OPTIMIZER}"

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
    +actor_rollout_ref.actor.engine.impl_cfg.gdn_cp_mode="${GDN_CP_MODE}"
    +actor_rollout_ref.actor.engine.impl_cfg.recompute=full
)
if [[ "${OPTIMIZER}" == dist_opt ]]; then
    # Megatron-Core offloads its optimizer only through the precision-aware code path.
    ACTOR+=(+actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer=True)
fi

ROLLOUT=(
    actor_rollout_ref.rollout.name="${INFER_BACKEND}"
    actor_rollout_ref.rollout.tensor_model_parallel_size="${ROLLOUT_TP}"
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
