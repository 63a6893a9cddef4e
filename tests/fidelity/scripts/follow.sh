#!/bin/bash
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$HERE/lib/env.sh"
[ -f "$HERE/lib/more.sh" ] && . "$HERE/lib/more.sh" || python no_more.py
python a.py "$FROM_ENV" "${MODEL_ARGS[@]}"
helper "x y"
bash "$HERE/lib/child.sh" 1 "2 3"
FROM_ENV=changed "$HERE/lib/child.sh"
cd "$HERE" && ./lib/child.sh here
for n in 1 2; do bash lib/child.sh "$n" & wait; done
cat > /tmp/generated.sh <<EOF
python generated.py "${FROM_ENV}" "\$1" "\${2:-"[d]"}"
EOF
bash /tmp/generated.sh g
exec bash "$HERE/lib/child.sh" last
