"""``python -m checks.overrides PATH``: the rule family ``overrides`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["overrides", *sys.argv[1:]])
