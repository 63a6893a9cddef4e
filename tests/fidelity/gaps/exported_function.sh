# An exported function does not reach a child bash.
f() { python "$1"; }
export -f f
bash -c 'f x' || python no
