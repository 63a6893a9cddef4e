#!/usr/bin/env bash
set -xeuo pipefail
DATA_ROOT=${DATA_ROOT:-/data}
MODEL_PATH=$MODEL_PATH
EXTRA+=(--flag)
[ -n "$DEBUG" ] && echo debug
echo "$((NGPU / 2))" "${#NAMES}"
torchrun train.py --data "$DATA_ROT" --load "${CKPT}/a" --save "${CKPT}/b" --model "$MODEL_PATH" \
    "${EVAL[@]}" "${EXTRA[@]}"
