set -eu
list=()
python a.py ${list[@]+"${list[@]}"} "${list[@]}" "${#list[@]}" "${1:-none}" "$#" "$@"
declare -A map=([k]=v)
python b.py "${map[k]}" "${map[none]:-x}"
