python a.py \
    --x 1 \
    --y "two
lines" \
    --z
python b.py --x \
  # a comment ends the command
  --y
python c.py 'single \
quoted' "double \
quoted" end \
