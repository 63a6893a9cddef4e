#!/usr/bin/env bash
set -ex
torchrun train.py --load $CKPT
set +u
