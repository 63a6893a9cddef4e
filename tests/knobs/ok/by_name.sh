#!/usr/bin/env bash
# Names that are looked up at run time.
TP=2
PP=1
for name in TP PP; do
    echo "$name=${!name}"
done
torchrun train.py
