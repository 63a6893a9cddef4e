"""SHL and SC: the text of shell scripts. Lines that do not go on, words that split, variables that nobody reads."""

from __future__ import annotations

from example_sanity.checks.shell.options import ShellOptions

OPTIONS = ShellOptions
