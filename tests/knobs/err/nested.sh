# ---- knobs ----
TP=${TP:-2}
# ---- data ----
BATCH=${BATCH:-8}
# ---- end data ----
# ---- end knobs ----

# ---- rollout knobs ----
N=${N:-8}
torchrun train.py "$TP" "$BATCH" "$N"
