python a.py --x 1
python b.py \
  --y
