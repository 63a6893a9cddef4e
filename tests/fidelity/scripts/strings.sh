P=/data/models/Qwen3-8B.tar.gz
python "${P##*/}" "${P%/*}" "${P%%.*}" "${P#*/}" "${P/models/m}" "${P//a/A}" "${P:6:6}" "${#P}"
S="a-b_c d"
python "${S^^}" "${S,,}" "${S^}" "${S//[-_]/.}" "${S@Q}" "${S/ /}"
printf -v PADDED "%03d" 7
python $PADDED "$(printf '%s,' 1 2 3)" "$(seq -s, 1 3)" "$(echo a,b | cut -d, -f2)" "$(echo abc | sed 's/b/x/')"
python $((2 ** 10)) $((7 / 2)) $((16#ff)) $((1 ? 2 : 3)) $(expr 3 + 4) $((RANDOM * 0))
python {1..3} {a,b}{c,d} x{,y} "{1..3}" {01..03}
python 'it'\''s' "q\"q" "d\$d" b\\b $'t\tn' "back\`tick"
i=0; while (( i++ < 2 )); do python loop.py $i; done
for ((j = 0; j < 2; j++)); do python cfor.py $j; done
until [ "${k:-0}" -ge 2 ]; do k=$((${k:-0} + 1)); python until.py $k; done
python "$(cat <<EOF
here $S
EOF
)" "$(cat <<'EOF'
raw $S
EOF
)"
