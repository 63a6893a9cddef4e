"""Rewrite a script so that the sandbox's bash reads it as real bash does, and mark where each command stands.

The sandbox (bashkit 0.20) misreads quotes, escapes and unset variables inside the operand of an expansion. Such an
operand is moved in front of its statement, on the same line::

    X=${A:-$(f "b")}   →   if [[ -n "${A:-}" ]]; then X=${A}; else X=$(f "b"); fi

Everything that is written is ordinary bash with the same meaning. The result is parsed again; where that finds an
error that the original has not, the script is left as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch.callsites import mark
from example_sanity.launch.hoist import move
from example_sanity.launch.rewriting import LIMIT, Context, Edits
from example_sanity.launch.shelltree import captures, parsed, structure

if TYPE_CHECKING:
    from tree_sitter import Node

_NOUNSET = regex(r"(?m)^[^#\n]*\bset\s+(?:-\S+\s+)*-\w*(?:u|o\s+nounset)|#!.*bash\s+-\w*u")
_ELEMENT = regex(r"\$\{[A-Za-z_]\w*\[[^\]@*]+\]\}")
_BRACES = regex(r"\{(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?\}")
_BRACE_LIMIT = 10_000


class Rewritten(msgspec.Struct, frozen=True):
    """A script for the sandbox, and the names of the commands in it that are no builtins and not written in bash."""

    text: str
    names: frozenset[str]


@lru_cache(maxsize=64)
def normalise(text: str, origin: str = "0", tags: bool = True) -> Rewritten:
    """Rewrite ``text`` for the sandbox; ``origin`` names the file in the call sites (an index, no ``:``).

    The number of lines before a statement stays the same unless an operand with a line break moves. Text that would
    not parse any more is returned unchanged but for the end of the file.
    """
    text = re.sub(r"\\\n?\s*\Z", "\n", text)
    context = Context(origin, text, bool(_NOUNSET.search(text)), tags, _rewrite)
    return Rewritten(_rewrite(text, context), frozenset(context.names))


def _rewrite(text: str, context: Context) -> str:
    if context.fixed is not None and "$" not in text and "`" not in text:
        return text
    root, clean = structure(text)
    edits = Edits()
    found = captures(root)
    taken: list[tuple[int, int]] = []
    for node in sorted(found.get("expansion", ()), key=lambda node: node.start_byte):
        if not any(start <= node.start_byte < end for start, end in taken):
            stretch = move(text, node, context, edits)
            if stretch:
                taken.append(stretch)
            elif context.nounset and _ELEMENT.fullmatch(text, node.start_byte, node.end_byte):
                edits.add(node.end_byte - 1, node.end_byte - 1, "?")
    for node in found.get("brace", ()):
        _guard_braces(text, node, edits)
    for node in found.get("command", ()):
        mark(text, node, context, edits)
    result = edits.apply(text)
    if context.fixed is None and clean and parsed(result).has_error:
        return text
    return result


def _guard_braces(text: str, node: Node, edits: Edits) -> None:
    """The sandbox leaves a range of more than 10,000 words unexpanded without a word about it."""
    match = _BRACES.fullmatch(text, node.start_byte, node.end_byte)
    if match is None:
        return
    first, last, step = int(match[1]), int(match[2]), abs(int(match[3] or 1)) or 1
    count = abs(last - first) // step + 1
    if count > _BRACE_LIMIT:
        edits.add(node.start_byte, node.end_byte, f"$({LIMIT} {count})")
