"""``python -m example_sanity``."""

from example_sanity.cli import main

main()
