A=$(mktemp); B=$(mktemp -d); C=$(mktemp /tmp/run_XXXXXX.yaml); D=$(mktemp -d -t name.XXXX); E=$(mktemp -p /tmp --suffix=.json)
echo a > "$A"; echo b > "$B/f"; echo c > "$C"; mkdir "$D/sub"; echo e >> "$E"
python "$A" "$B" "$C" "$D" "$E" "$(cat "$A" "$B/f" "$C" "$E")" "$(ls "$D")"
trap 'rm -rf "$B"' EXIT
