#!/usr/bin/env bash
# Without set -u: variables that may be empty, and the script knows it.
if [ -z "$CKPT" ]; then echo "no checkpoint"; fi
if [ "$DEBUG" = 1 ]; then set -x; fi
if test -n "$TOKEN"; then login "$TOKEN"; fi
[[ $MODE == fast ]] && echo fast
docker run -e HF_KEY="$HF_KEY" image
# EVAL=...
NAME=
torchrun train.py --ckpt "$CKPT" ${PROXY:+--proxy $PROXY} --name "$NAME"
