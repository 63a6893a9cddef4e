"""``python -m checks check PATH``: the same program as ``example-sanity``."""

from example_sanity.cli import main

main()
