set -o pipefail
python a.py | tee a.log | grep x
python b.py "${PIPESTATUS[0]}" "$?"
python c.py 2>&1 | tee -a a.log || python d.py
false | true || python e.py
echo x | { read -r v; python f.py "$v"; }
python g.py < /dev/null > /dev/null 2>&1 && python h.py
python i.py & PID=$!; wait; python j.py
diff <(echo a) <(echo b) > /dev/null || python k.py
python - --x <<'EOF'
print("$HOME")
EOF
python - <<EOF | xargs python m.py
print("$HOME")
EOF
