# Commands that are looked up and run by the path that was found.
PY=$(which python)
"$PY" a.py
"$(command -v torchrun)" b.py
YQ=$(command -v yq || echo none)
VALUE=$("$YQ" .key file.yaml 2> /tmp/log)
python "[$VALUE]" "$(basename "$PY")"
[ -x "$(command -v ray)" ] && python ray.py
type -P python > /dev/null && python typed.py
for tool in accelerate npu-smi; do
    if command -v "$tool" > /dev/null; then python has.py "$tool"; else python lacks.py "$tool"; fi
done
"${PYTHON:-python}" c.py 2> /tmp/log
TORCHRUN=(torchrun --standalone)
"${TORCHRUN[@]}" d.py > /tmp/log 2>&1
hash -r
type ls > /dev/null && python ls.py
