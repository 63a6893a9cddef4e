time python a.py
time -p python b.py
command python c.py
\python d.py
"python" e.py
timeout 5 python f.py
nice -n 5 python g.py
env -u A python h.py
eval "python i.py --x 'y z'"
bash -c 'python j.py "$0" "$1"' zero one
sh -c "python k.py"
echo "a b" | xargs -n1 python l.py
echo "python m.py" | bash
bash <<< "python n.py"
find . -maxdepth 0 -exec python o.py {} \;
CMD="python p.py --flag 1"
$CMD --more "a b"
LAUNCH=(python q.py)
"${LAUNCH[@]}" --x
(python r.py)
{ python s.py; }
! python t.py || python u.py
X=$(python v.py); python w.py "[$X]"
setsid python x.py
numactl -N 0 python y.py
