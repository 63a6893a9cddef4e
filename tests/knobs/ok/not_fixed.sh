#!/usr/bin/env bash
# ---- user-adjustable ----
TP=${TP:-2}
readonly SCHEMA=3
declare -r FORMAT=parquet
world=$((TP * 8))
stamp=$(date +%s)
started=`date`
first=$1
model_path=$HOME/models/$TP
offload=False
if [[ $TP == 1 ]]; then
    offload=True
fi
EXTRA=()
PATH=/opt/bin
export WANDB_MODE=offline
OPTIONS="
    --a
    --b
"
# ---- end user-adjustable ----
torchrun train.py "$TP" "$SCHEMA" "$FORMAT" "$world" "$stamp" "$started" "$first" "$model_path" $offload \
    "${EXTRA[@]}" $OPTIONS
