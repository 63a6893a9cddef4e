#!/usr/bin/env bash
# Reads that are not expansions of the launch command.
A=1
B=2
C=3
D=4
E=5
F=6
HAIR=7
trap 'echo $A' EXIT
bash -c 'echo "${B}"'
cat <<EOF
$C
EOF
cat > job.sh <<'EOF'
echo ${D}
EOF
(( E > 4 )) && echo big
[[ -v F ]] && echo set
export HAIR
PS4='+ '
IFS=,
_=ignored
_unused=1
: "${ACCESS_KEY:?set ACCESS_KEY}"
f() { local unread=1; late=2; }
f
torchrun train.py
