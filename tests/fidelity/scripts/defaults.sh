#!/usr/bin/env bash
# Operands of expansions, in every quoting.
A=${A:-"[0]"}
B=${B:-'["console","wandb"]'}
C=${C:-['a','b']}
D="${D:-['x', 'y']}"
E=${E:-"a b"}
F=${F:-a\ b}
G="${G:-a\"b}"
H=${H:-"a\$b"}
I="${I:-{\"k\": 1\}}"
J=${J:-{k: "v"}}
K=${K:-$HOME/data}
L=${L:-"$HOME/data"}
M=${M:-*}
N="${N:-*}"
O=${O:-"*"}
P=${P:-$'a\tb'}
python train.py "$A" "$B" "$C" "$D" "$E" "$F" "$G" "$H" "$I" "$J" "$K" "$L" "$M" "$N" "$O" "$P"
python train.py key=${UNSET:-"[1,2]"} key=${UNSET:-'{a: 1}'} "key=${UNSET:-"[3]"}" ${UNSET:-"a b"} ${UNSET:-a b} ${UNSET:-"a b" 'c d'}
python train.py ${UNSET:+never} ${HOME:+--home "[$HOME]"} "${HOME:+"[x]"}" end
: "${Q:="[q]"}" ${R:='r s'}
python train.py "$Q" "$R" "${Q-"none"}" "${UNSET-"[none]"}" ${EMPTY-"x"}
