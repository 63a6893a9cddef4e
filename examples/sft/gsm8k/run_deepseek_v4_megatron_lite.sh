#!/usr/bin/env bash
# SFT on GSM8K | DeepSeek-V4 | Megatron Lite training | GPU
#
# Run it on every node:
#
#   MODEL_PATH=/models/DeepSeek-V4-Flash MASTER_ADDR=node0 NODE_RANK=0 \
#       bash examples/sft/gsm8k/run_deepseek_v4_megatron_lite.sh
#
# Under Slurm, NODE_RANK comes from SLURM_NODEID. Arguments are passed on to the
# trainer as Hydra overrides, after those of this script.
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

case "${MODEL_VARIANT}" in
    flash)
        NNODES=${NNODES:-16}
        PP=${PP:-4}
        EP=${EP:-8}
        CP=${CP:-4}
        ;;
    pro)
        NNODES=${NNODES:-64}
        PP=${PP:-8}
        EP=${EP:-16}
        CP=${CP:-4}
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
NODE_RANK=${NODE_RANK:-${SLURM_NODEID:-}}
MASTER_ADDR=${MASTER_ADDR:-}
MASTER_PORT=${MASTER_PORT:-29500}

TRAIN_FILE=${TRAIN_FILE:-$HOME/data/gsm8k_sft/train.parquet}
TRAIN_BATCH_SIZE=${TRAIN_BATCH_SIZE:-128}
MAX_LENGTH=${MAX_LENGTH:-2048}
MAX_TOKEN_LEN_PER_GPU=${MAX_TOKEN_LEN_PER_GPU:-${MAX_LENGTH}} # times CP: the tokens of a micro batch

LR=${LR:-1e-5}
WEIGHT_DECAY=${WEIGHT_DECAY:-0.1}
CLIP_GRAD=${CLIP_GRAD:-1.0}

SAVE_FREQ=${SAVE_FREQ:--1}
TOTAL_EPOCHS=${TOTAL_EPOCHS:-1}
LOGGER=${LOGGER:-console} # console,wandb
PROJECT_NAME=${PROJECT_NAME:-verl_mlite_sft_gsm8k}
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

# A wrong guess would hang until the rendezvous times out.
if ((NNODES > 1)); then
    : "${NODE_RANK:?set it to the rank of this node, 0 to NNODES-1}"
    : "${MASTER_ADDR:?set it to the address of the node with rank 0}"
fi

export PYTHONPATH="${MLITE_VERL_ROOT}:${MLITE_LITE_ROOT}:${MLITE_ROOT}${VERL_ROOT:+:${VERL_ROOT}}${PYTHONPATH:+:${PYTHONPATH}}"
export CUDA_DEVICE_MAX_CONNECTIONS="${CUDA_DEVICE_MAX_CONNECTIONS:-1}"

########################### parameter arrays ###########################
DATA=(
    data.train_files="${TRAIN_FILE}"
    data.train_batch_size="${TRAIN_BATCH_SIZE}"
    data.use_dynamic_bsz=True
    data.max_token_len_per_gpu="${MAX_TOKEN_LEN_PER_GPU}"
    data.max_length="${MAX_LENGTH}"
    data.pad_mode=no_padding
    data.truncation=error
)

MODEL=(
    model.path="${MODEL_PATH}"
    model.trust_remote_code=True
)

OPTIM=(
    optim=megatron
    optim.lr="${LR}"
    optim.weight_decay="${WEIGHT_DECAY}"
    optim.clip_grad="${CLIP_GRAD}"
)
if [[ "${OPTIMIZER}" == dist_opt ]]; then
    # Megatron-Core offloads its optimizer only through the precision-aware code path.
    OPTIM+=(+optim.override_optimizer_config.use_precision_aware_optimizer=True)
fi

ENGINE=(
    engine=mlite
    engine.tp="${TP}"
    engine.pp="${PP}"
    engine.vpp=1
    engine.ep="${EP}"
    engine.cp="${CP}"
    engine.etp="${ETP}"
    engine.param_offload="${ALL_OFFLOAD}"
    engine.optimizer_offload="${ALL_OFFLOAD}"
    engine.grad_offload="${ALL_OFFLOAD}"
    +engine.impl_cfg.optimizer="${OPTIMIZER}"
    +engine.impl_cfg.recompute=full
)

TRAINER=(
    trainer.logger="[${LOGGER}]"
    trainer.project_name="${PROJECT_NAME}"
    trainer.experiment_name="${EXPERIMENT_NAME}"
    trainer.nnodes="${NNODES}"
    trainer.n_gpus_per_node="${NDEVICES_PER_NODE}"
    trainer.save_freq="${SAVE_FREQ}"
    trainer.total_epochs="${TOTAL_EPOCHS}"
)

EXTRA=(
    "hydra.searchpath=[pkg://verl_mlite.config]"
)

########################### launch ###########################
torchrun \
    --nnodes="${NNODES}" \
    --nproc_per_node="${NDEVICES_PER_NODE}" \
    --node_rank="${NODE_RANK:-0}" \
    --master_addr="${MASTER_ADDR:-127.0.0.1}" \
    --master_port="${MASTER_PORT}" \
    -m verl_mlite.launch verl.trainer.sft_trainer \
    "${EXTRA[@]}" \
    "${DATA[@]}" \
    "${MODEL[@]}" \
    "${OPTIM[@]}" \
    "${ENGINE[@]}" \
    "${TRAINER[@]}" \
    "$@"
