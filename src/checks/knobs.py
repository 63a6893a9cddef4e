"""``python -m checks.knobs PATH``: the rule family ``knobs`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["knobs", *sys.argv[1:]])
