#!/usr/bin/env bash
# Headings without an end: sections, and no region anywhere.
# ---- start of config ----
TP=${TP:-2}
NNODES=4
# ---- rollout knobs ----
ROLLOUT_N=${ROLLOUT_N:-8}
# ---- launch ----
SEED=${SEED:-1}
torchrun --nnodes="$NNODES" train.py --tp "$TP" --n "$ROLLOUT_N" --seed "$SEED"
