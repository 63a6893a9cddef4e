python before.py
if true; then
