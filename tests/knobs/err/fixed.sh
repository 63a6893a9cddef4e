#!/usr/bin/env bash
# ---- user-adjustable ----
NNODES=4
train_batch_size=$((16 * 8))
project_name='my project'
layers="['a', 'b']"
rank=0
logger=${LOGGER:-console}
export MODE="fast"
plan={x}
# ---- end user-adjustable ----

# ==== lower-case knobs ====
lr=${lr:-1e-6}
wd=0.1
# ==== end lower-case knobs ====
torchrun --nnodes="$NNODES" train.py "$train_batch_size" "$project_name" "$layers" "$rank" "$logger" "$MODE" "$lr" "$wd" "$plan"
