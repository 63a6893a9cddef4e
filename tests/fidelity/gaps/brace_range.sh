# A range of more than 10,000 words is a limit (SYS005) in the sandbox.
python {1..10001}
