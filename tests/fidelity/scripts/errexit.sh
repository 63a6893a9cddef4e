set -e
export X=${X:-$(false)}
python exported.py "$X"
Y=$(false) || python rescued.py
if ! Z=${Z:-$(false "a")}; then python negated.py; fi
f() { false; python in_f.py; }
f || python after_f.py
trap 'python trap.py' EXIT
W=${W:-$(false "b")}
python never.py
