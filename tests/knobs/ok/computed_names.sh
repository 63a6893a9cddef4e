#!/usr/bin/env bash
set -u
eval "$(parse_options "$@")"
torchrun train.py --lr "$lr"
