#!/usr/bin/env bash
set -euo pipefail
[[ -v NAME ]] && echo "$NAME"
[[ -n "${TAG:-}" ]] && echo "$TAG"
echo "${MODEL:?set MODEL}" "${X-}" "${Y+set}"
: "${Z:=3}"
for i in 1 2; do echo "$i" "$Z"; done
while read -r host port; do echo "$host" "$port"; done < hosts
mapfile -t lines < hosts
printf -v padded '%03d' 7
getopts ab option
((count = 3, count++))
local_path=$(dirname -- "$0")/$X/$Y/$Z
save_dir=$X/runs/$Y/$Z
plan='first,'\
'second'
torchrun train.py "$save_dir" "$plan" "${lines[@]}" "$padded" "$option" "$count" "$local_path"
