A=(--tp 1 "--name=a b" --list "[1, 2]")
A+=(--extra)
python a.py "${A[@]}" "${A[*]}" "${#A[@]}" "${A[@]:1:2}" "${A[-1]}" ${!A[@]}
for arg in "${A[@]}"; do case $arg in --name=*) python name.py "${arg#*=}" ;; esac; done
unset 'A[0]'
python b.py "${A[@]}"
mapfile -t LINES < <(printf 'l 1\nl 2\n')
python d.py "${LINES[@]}"
read -ra WORDS <<< "w1 w2"
IFS=, read -r first rest <<< "a,b,c"
python e.py "${WORDS[@]}" "$first" "$rest"
declare -A M=([tp]=2 [pp]="3 4")
python f.py "${M[tp]}" "${M["pp"]}"
