"""``python -m checks.mesh PATH``: the rule family ``mesh`` alone."""

import sys

from example_sanity.cli import main

if __name__ == "__main__":
    main(["mesh", *sys.argv[1:]])
