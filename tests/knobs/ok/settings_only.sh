# To be sourced: sets variables, starts nothing.
MODEL_ARGS=(
    --num-layers 36
    --hidden-size 4096
)
TOKENIZER=org/model
echo "$CHECKPOINT"
