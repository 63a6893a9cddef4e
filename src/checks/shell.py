"""``python -m checks.shell PATH``: the rule family ``shell`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["shell", *sys.argv[1:]])
