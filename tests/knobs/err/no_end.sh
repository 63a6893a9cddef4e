# ---- user-adjustable ----
TP=${TP:-2}

# ---- launch ----
torchrun train.py "$TP"
