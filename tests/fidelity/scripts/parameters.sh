set -- --config a.yaml -n 4 --flag "pos 1" pos2
while [[ $# -gt 0 ]]; do
    case "$1" in
        --config) CONFIG=$2; shift 2 ;;
        -n) N=$2; shift 2 ;;
        --flag) FLAG=1; shift ;;
        *) REST+=("$1"); shift ;;
    esac
done
python a.py "$CONFIG" "$N" "${FLAG:-0}" "${REST[@]}"
opts() { while getopts "a:b" o; do case $o in a) python opt_a.py "$OPTARG" ;; b) python opt_b.py ;; esac; done; }
opts -a "1 2" -b
g() { python g.py "$1" "${@:2}" "$#" "$*"; shift; python h.py "$@"; return 3; }
g a "b c" d || python status.py $?
python "${FUNCNAME:-none}" "${0##*/}"
