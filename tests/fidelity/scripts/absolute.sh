# Text tools by their absolute paths run; other programs are recorded.
N=$(printf "a\nb\n" | /usr/bin/grep -c a)
/bin/mkdir -p /tmp/d && python x "$N" "$(/usr/bin/basename /a/b)"
/usr/bin/python3 y
/bin/bash -c "python z"
