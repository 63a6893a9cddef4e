#!/usr/bin/env bash
set -u
python child.py "$0" "${1:-"[no argument]"}" "$#" "${FROM_ENV:-unset}" "$EXPORTED"
