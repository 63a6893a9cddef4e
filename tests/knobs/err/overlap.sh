# ---- mesh ----
TP=${TP:-2}
# ---- data ----
BATCH=${BATCH:-8}
# ---- end mesh ----
SEED=${SEED:-1}
# ---- end data ----
torchrun train.py "$TP" "$BATCH" "$SEED"
