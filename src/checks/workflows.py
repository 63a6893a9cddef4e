"""``python -m checks.workflows PATH``: the rule family ``workflows`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["workflows", *sys.argv[1:]])
