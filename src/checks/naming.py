"""``python -m checks.naming PATH``: the rule family ``naming`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["naming", *sys.argv[1:]])
