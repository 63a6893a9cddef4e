#!/usr/bin/env bash
# ==== user-adjustable ====
TP=${TP:-2}
# ==== end of user-adjustable ====

# ==== derived defaults ====
SAVE_FREQ=${SAVE_FREQ:-10}
TEST_FREQ=5
# ==== end derived defaults ====

# ==== no user adjustment needed below ====
LOG_DIR=${LOG_DIR:-logs}

# ==== launch ====
STAMP=${STAMP:-now}
torchrun train.py --tp "$TP" --save "$SAVE_FREQ" --test "$TEST_FREQ" --log "$LOG_DIR/$STAMP"
