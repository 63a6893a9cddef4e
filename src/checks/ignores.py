"""``python -m checks.ignores PATH``: the rule family ``ignores`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["ignores", *sys.argv[1:]])
