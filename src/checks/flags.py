"""``python -m checks.flags PATH``: the rule family ``flags`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["flags", *sys.argv[1:]])
