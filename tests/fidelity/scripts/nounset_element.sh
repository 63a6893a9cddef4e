set -eu
list=(a b)
python first.py "${list[1]}"
python second.py "${list[5]}"
python after.py
