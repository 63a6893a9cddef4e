set -x
if [ -n "$WANDB_API_KEY" ]; then W=(--use-wandb --key "$WANDB_API_KEY"); else W=(--offline); fi
EVAL_ARGS=(
   --eval-interval 20
   --eval-prompt-data aime "${DATA:-/root}/aime.jsonl"
   # --commented out
   --n-samples 16
)
PERF_ARGS="--tp 2 --sequence-parallel
 --recompute full"
RUNTIME_ENV_JSON="{
  \"env_vars\": {
    \"PYTHONPATH\": \"/root/Megatron-LM/\",
    \"CUDA_DEVICE_MAX_CONNECTIONS\": \"1\",
    \"NVLS\": \"${HAS_NVLINK:-0}\"
  }
}"
ray job submit --runtime-env-json="${RUNTIME_ENV_JSON}" -- python3 train.py ${W[@]} ${EVAL_ARGS[@]} $PERF_ARGS "$@"
