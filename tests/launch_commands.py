"""Commands as an evaluation would record them, for tests that need no evaluation."""

from __future__ import annotations

import shlex

from example_sanity.core.finding import Span
from example_sanity.launch.command import Command, Entry, Origin
from example_sanity.launch.entry import entries


def command(line: str, unstable: tuple[int, ...] = ()) -> Command:
    """Return the command of a line of plain words; word ``n`` comes from line ``n``."""
    argv = tuple(shlex.split(line))
    origins = tuple(
        Origin("run.sh", Span(number, 1, number, 2), exact=True) for number, _ in enumerate(argv, 1)
    )
    return Command(argv, {}, 0, Origin("run.sh", Span()), origins, frozenset(unstable))


def entry(line: str, unstable: tuple[int, ...] = ()) -> Entry:
    """Return the only entry of a line."""
    (found,) = entries([command(line, unstable)])
    return found
