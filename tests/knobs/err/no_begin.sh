TP=${TP:-2}
################ end user-adjustable ################
SEED=${SEED:-1}
torchrun train.py "$TP" "$SEED"
