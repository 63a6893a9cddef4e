"""Expressions of GitHub Actions, as far as a file alone says what they are: ``${{ matrix.x }}``, ``${{ env.X || 'y' }}``.

Source: GitHub Docs, "Evaluate expressions in workflows and actions".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.checks.workflows.model import Text
    from example_sanity.core.finding import Span

WORKSPACE = "/github/workspace"  # where we say that the repository lies on the runner
UNKNOWN = "${GITHUB_EXPRESSION}"  # what stands for the value of an expression that only a run knows
_EXPRESSION = regex(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_NAME = regex(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")
_LITERAL = regex(r"'((?:[^']|'')*)'|(true|false|-?\d+(?:\.\d+)?)")
_OR = regex(r"\|\|(?=(?:[^']*'[^']*')*[^']*$)")
_FALSE = ("", "0", "false")


class Scope(msgspec.Struct, frozen=True):
    """What is known where an expression stands. A value of ``matrix`` that only a run knows is None."""

    matrix: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    def value(self, expression: str) -> str | None:
        """Return the value of an expression without its braces, or None."""
        value: str | None = ""
        for part in _OR.split(expression):
            value = self._term(part.strip())
            if value is None or value not in _FALSE:
                return value
        return value

    def _term(self, term: str) -> str | None:
        literal = _LITERAL.fullmatch(term)
        if literal:
            return literal[2] if literal[1] is None else literal[1].replace("''", "'")
        if not _NAME.fullmatch(term):
            return None
        context, _, name = term.partition(".")
        if context == "matrix":
            return self._of_matrix(term)
        if context == "env":
            found = self.environment.get(name)
            return None if found is None or "${{" in found else found
        if context == "inputs" or term.startswith("github.event.inputs."):
            return self.inputs.get(term.rpartition(".")[2])
        return WORKSPACE if term == "github.workspace" else None

    def _of_matrix(self, name: str) -> str | None:
        """A name that a combination lacks is empty, unless an axis that holds it is only known to a run."""
        for end in range(len(name), 0, -1):
            if (end == len(name) or name[end] == ".") and name[:end] in self.matrix:
                return self.matrix[name[:end]]
        return "" if self.matrix else None

    def text(self, value: str) -> str:
        """Return a value with its expressions replaced by what they are."""
        return _EXPRESSION.sub(self._replacement, value)

    def _replacement(self, found: re.Match[str]) -> str:
        value = self.value(found[1])
        return UNKNOWN if value is None else value

    def fill(self, text: Text) -> Filled:
        """Return a text with its expressions replaced, and the way back to the file."""
        parts, places, position, length = [], [(0, 0)], 0, 0
        for found in _EXPRESSION.finditer(text.value):
            before, new = text.value[position : found.start()], self._replacement(found)
            parts += [before, new]
            # Inside of what an expression became every place is the expression.
            places += [(length + len(before), found.start())] * bool(new)
            length += len(before) + len(new)
            position = found.end()
            places.append((length, position))
        return Filled("".join([*parts, text.value[position:]]), text, tuple(places))


class Filled(msgspec.Struct, frozen=True):
    """Text of a file in which expressions were replaced. ``places`` pairs offsets here with offsets in the source."""

    text: str
    source: Text
    places: tuple[tuple[int, int], ...]

    def _source(self, offset: int) -> int:
        index = bisect_right(self.places, (offset, len(self.source.value) + 1)) - 1
        here, there = self.places[index]
        # The first place and every second one behind it begin text that was taken over as it is.
        last = self.places[index + 1][1] if index + 1 < len(self.places) else len(self.source.value)
        return min(there + offset - here, last)

    def span(self, start: int, end: int) -> Span:
        """Return where the characters from ``start`` to ``end`` (exclusive) come from."""
        return self.source.span(self._source(start), self._source(end))
