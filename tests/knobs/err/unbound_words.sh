#!/usr/bin/env bash
set -euo pipefail
TRAIN_FILE=${TRAIN_FILE:-$DATA_ROOT/train.parquet}
DATA=(data.train_files="$TRAIN_FILE" actor.offload=${True})
torchrun train.py "${DATA[@]}" --tag "$DATA_TAG"
