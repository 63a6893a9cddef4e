"""Reads text files that list tests or launchers for a job to run or to leave out, one a line.

What stands behind ``#`` is a comment; a comment may name a group of files by a pattern (``# recipes/llm/grpo-*.sh``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.workflows.model import Item, Listing, Text, Workflow
from example_sanity.core.regex import regex
from example_sanity.core.textplaces import whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ENTRY = regex(r"\s*([^\s#]+)")
_GLOB = regex(r"(?<![\w/.*-])(?:[\w.-]+/)+[\w./*-]*\*[\w./*-]*[\w*]")


def read(path: str, text: str) -> Workflow:
    """Return the entries of a list and the patterns of its comments. Never raises."""
    lines = text.split("\n")
    return Workflow(
        path,
        "suite",
        listings=(Listing("the list", tuple(_entries(lines))),),
        comments=tuple(_patterns(lines)),
    )


def _entries(lines: Sequence[str]) -> Iterator[Item]:
    for number, line in enumerate(lines, 1):
        found = _ENTRY.match(line)
        if found:
            yield Item(Text(found[1], ((number, found.start(1) + 1),)), whole_lines(lines, number, number))


def _patterns(lines: Sequence[str]) -> Iterator[Item]:
    for number, line in enumerate(lines, 1):
        start = line.find("#")
        for found in _GLOB.finditer(line, start) if start >= 0 else ():
            yield Item(Text(found[0], ((number, found.start() + 1),)))
