"""``python -m checks.sources PATH``: the rule family ``sources`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["sources", *sys.argv[1:]])
