# A command substitution in a pattern is not run.
V=abc
python "${V//$(echo b)/z}"
