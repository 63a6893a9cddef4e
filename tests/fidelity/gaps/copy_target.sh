# cp -t
mkdir /tmp/d; echo > /tmp/a; cp -t /tmp/d /tmp/a || python failed
python "$(ls /tmp/d)"
