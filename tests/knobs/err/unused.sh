#!/usr/bin/env bash
TP=${TP:-2}
test_freq=${TEST_FREQ:-10}
SAVE=5
REF=(
    ref.lr=1
    ref.tp="$TP"
)
REF+=(ref.pp=1)
x=$((x + 1))
# $SAVE
torchrun train.py "$TP"
