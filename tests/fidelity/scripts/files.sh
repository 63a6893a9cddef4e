mkdir -p out/logs && cd out
python a.py > logs/a.log 2>&1
echo "x y" > f.txt; echo z >> f.txt
python b.py "$(cat f.txt)" $(wc -l < f.txt) *.txt logs/* nomatch*
shopt -s nullglob; python c.py nomatch* end
tee g.txt <<< "t" | xargs python d.py
ls | xargs python e.py
cp f.txt h.txt; mv h.txt i.txt; rm g.txt; ls | xargs python f.py
tee /nowhere/x.log <<< "through" | xargs python g.py
awk '{print $1}' f.txt | xargs python h.py
grep -c x f.txt | xargs python i.py
sed -i s/x/w/ f.txt; head -1 f.txt | xargs python j.py
python k.py "$(realpath ../out)" "$(basename "$PWD")" "$(readlink -f f.txt)"
while read -r line; do python l.py "$line"; done < f.txt
find . -name '*.txt' | sort | xargs python m.py
