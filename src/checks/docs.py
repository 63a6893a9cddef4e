"""``python -m checks.docs PATH``: the rule family ``docs`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["docs", *sys.argv[1:]])
