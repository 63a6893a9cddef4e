set -u
MODEL=${MODEL:-${OTHER_MODEL:-"org/model[1]"}}
NAME=${NAME:-$(basename "$MODEL")_$(echo "x[y]")}
OUT="${OUT:-"$(dirname "$0")"/out/${NAME}}"
TAG=${TAG:-`echo "t 1"`}
N=${N:-$(( ${GPUS:-8} * ${NODES:-"2"} ))}
export DATA="${DATA:-$(printf "%s" '["a"]')}" MORE=${MORE:-"{}"}
python train.py "$MODEL" "$NAME" "$OUT" "$TAG" $N "$DATA" $MORE
f() {
    local a=${1:-"[one]"} b="${2:-"$(echo "two[2]")"}"
    python f.py "$a" "$b" "${3:-"${a}-${b}"}"
}
f
f x
f x "y z" w
ARGS=(--a ${A:-"[1]"} "--b=${B:-"[2]"}" c=${C:-'[3,4]'}
  # a comment between
  d=${D:-"[5]"})
ARGS+=(${E:-"e e" f})
python train.py "${ARGS[@]}"
[[ -n ${F:-"[f]"} && "${G:-"[g]"}" == "[g]" ]] && python yes.py
[ "${H:-"a[b"}" = "a[b" ] && python yes.py ${I:-"[i]"} || python no.py
false || python alt.py ${J:-"[j]"}
for item in ${K:-"a b" 'c[d]'}; do python item.py "$item"; done
case ${L:-"x[1]"} in "x[1]") python case.py ;; esac
cat <<EOF | xargs python heredoc.py
${M:-"[m]"} ${NAME}
EOF
python redirect.py > ${LOG:-"/tmp/a b.log"} && ls /tmp | xargs python
