"""``python -m checks.batch PATH``: the rule family ``batch`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["batch", *sys.argv[1:]])
