"""FLG: command-line flags against the parser of the program that gets them."""

from __future__ import annotations

from example_sanity.checks.flags.options import FlagsOptions

OPTIONS = FlagsOptions
