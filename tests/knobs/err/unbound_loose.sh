#!/usr/bin/env bash
set -ex
RUN=a
torchrun train.py --name $RUN_test --tag ${RUN_b} $RUN --load $CKPT
set +u
