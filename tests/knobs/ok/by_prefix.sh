#!/usr/bin/env bash
TRAIN_LR=1e-6
TRAIN_STEPS=10
for name in ${!TRAIN_@}; do
    declare -p "$name"
done
torchrun train.py
