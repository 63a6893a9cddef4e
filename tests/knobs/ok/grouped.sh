#!/usr/bin/env bash
# GRPO, written the way it should be: every knob in a region, the rest below headings.
set -xeuo pipefail

export VLLM_USE_V1=${VLLM_USE_V1:-1}
export HCCL_CONNECT_TIMEOUT=1500

########################### mesh knobs ###########################
DEVICE=${DEVICE:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}
MODEL_VARIANT=${MODEL_VARIANT:-flash}
TP=${TP:-2}
PP=${PP:-4}
case "${MODEL_VARIANT}" in
    flash) MODEL_PATH=${MODEL_PATH:-org/flash} ;;
    pro) MODEL_PATH=${MODEL_PATH:-org/pro} ;;
esac
: "${NNODES:?set NNODES}"
WORLD=$((NNODES * 8))
if ((WORLD % (TP * PP) != 0)); then
    echo "WORLD=${WORLD} must be divisible by TP*PP=$((TP * PP))" >&2
    exit 1
fi
########################### end mesh knobs ###########################

# ---- user-adjustable (the usual suspects) ----
train_batch_size=${TRAIN_BATCH_SIZE:-128}
rollout_tp=${ROLLOUT_TP:-}
OFFLOAD=${OFFLOAD:-False}
# ---- end user-adjustable ----

DATA_DIR=${DATA_DIR:-/data/$MODEL_VARIANT}
########################### derived defaults ###########################
n_devices=${NDEVICES_PER_NODE:-8}
export CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-1}"
if [[ "${DEVICE}" == npu ]]; then
    rollout_tp=${rollout_tp:-4}
    gpu_memory=${GPU_MEMORY:-0.5}
else
    rollout_tp=${rollout_tp:-2}
    gpu_memory=${GPU_MEMORY:-0.6}
fi

########################### parameter arrays ###########################
rollout_tp=${rollout_tp:-2}
DATA=(
    data.train_files="${DATA_DIR}/train.parquet"
    data.train_batch_size=${train_batch_size}
)
ROLLOUT=(
    actor_rollout_ref.model.path="${MODEL_PATH}"
    actor_rollout_ref.rollout.tensor_model_parallel_size=${rollout_tp}
    actor_rollout_ref.rollout.gpu_memory_utilization=${gpu_memory}
    actor_rollout_ref.actor.megatron.param_offload=${OFFLOAD}
    trainer.n_gpus_per_node=${n_devices}
)

########################### launch ###########################
python3 -m verl.trainer.main_ppo "${DATA[@]}" "${ROLLOUT[@]}" "$@"
