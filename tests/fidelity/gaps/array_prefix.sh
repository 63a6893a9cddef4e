# A substitution that puts text before each element joins them when it makes an array.
A=(a b)
B=("${A[@]/#/x}")
python "${B[@]}"
