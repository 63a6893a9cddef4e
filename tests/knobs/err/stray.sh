#!/usr/bin/env bash
set -euo pipefail
SEED=${SEED:-1}
DEVICE=${DEVICE:-gpu}
echo "on $DEVICE"
# ---- user-adjustable ----
TP=${TP:-2}
# ---- end user-adjustable ----
train_file=${TRAIN_FILE:-$HOME/data/a/very/long/path/to/the/file.parquet}
: "${VAL_FILE:=val.parquet}"
# ---- derived defaults ----
STEPS=${STEPS:-10}
# ---- parameter arrays ----
if [[ $DEVICE == npu ]]; then LIMIT=${LIMIT:-3}; fi
SUFFIX=${SUFFIX:-}
torchrun train.py "$SEED" "$TP" "$train_file" "$VAL_FILE" "${LIMIT:-1}" "$SUFFIX" "$STEPS"
