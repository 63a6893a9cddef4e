# ==== user-adjustable ====
TP=${TP:-2}
# ==== end user-adjustble ====
torchrun train.py "$TP"
