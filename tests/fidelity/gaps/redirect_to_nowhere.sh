# A redirection that cannot be opened does not keep a recorded command from running.
python a.py > /nowhere/log
python b.py
