#!/usr/bin/env bash
set -a
NCCL_ALGO=ring
MY_TIMEOUT=30
set +a
torchrun train.py
