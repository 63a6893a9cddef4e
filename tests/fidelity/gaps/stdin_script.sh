# A script that is sourced from standard input.
source /dev/stdin <<< 'A=1'
python "${A:-none}"
