finish() { python finish.py "$1"; exit "$1"; }
trap 'python exit_trap.py' EXIT
python a.py || finish 1
(exit 4); [ $? -eq 4 ] && finish 4
python never.py
