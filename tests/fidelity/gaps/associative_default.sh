# Quotes in the default of an associative array's value.
declare -A m=([k]=${UNSET:-"[a]"})
python "${m[k]}"
