FROM_ENV=${FROM_ENV:-"[env]"}
export EXPORTED=${EXPORTED:-'{"a": 1}'}
MODEL_ARGS=(--layers ${LAYERS:-12} --list "${LIST:-"[1, 2]"}")
helper() { python helper.py "$@" "${1:-"[none]"}"; }
