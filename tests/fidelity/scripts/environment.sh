export A=1 B="2 3"
C=4 python a.py
export -n A
unset B
declare -x D=5
set -a; E=6; set +a
env | grep -E '^(A|B|C|D|E)=' | sort | xargs python b.py
printenv D | xargs python c.py
(export F=7; python d.py "$F"); python e.py "${F:-gone}"
F=8 G=$F python f.py "${F:-gone}" "${G:-gone}"
export PYTHONPATH="$PWD:${PYTHONPATH:-}"
python g.py "$PYTHONPATH"
source <(echo "H=9"); python h.py $H
export JSON="{\"env\": {\"PATH\": \"${HOME}/x\", \"N\": ${N:-"4"}}}"
python i.py "$JSON"
readonly R=10; python j.py $R
