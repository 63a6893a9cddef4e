"""Where things stand in a text: the values of a TOML file, and the lines that delete one item of a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

Key = tuple["str | int", ...]

_BLANK = regex(r"(?:\s|#[^\n]*)*")
_SPACE = regex(r"[ \t]*")
_STRING = regex(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_BARE = regex(r"[^\s,\]}#=.]+")
_SCALAR = regex(r"[^,\]}#\n]+")


class Place(msgspec.Struct, frozen=True):
    """Where a value stands, and where the key or the header that introduces it begins (the value itself in a list)."""

    span: Span
    start: Span


class Positions:
    """Turns offsets in a text into lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def span(self, start: int, end: int) -> Span:
        """Return the span from one offset to another."""
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        import bisect

        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def toml_places(text: str) -> dict[Key, Place]:
    """Return where each value of a valid TOML text stands, by its keys and indexes; a table has its header's place."""
    return _TomlReader(text).read()


class _TomlReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._positions = Positions(text)
        self._at = 0
        self._places: dict[Key, Place] = {}
        self._counts: dict[Key, int] = {}

    def read(self) -> dict[Key, Place]:
        table: Key = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            table = self._header() if self._text[self._at] == "[" else self._assignment(table)
            self._skip(_BLANK)
        return self._places

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _note(self, key: Key, value_start: int, start: int) -> None:
        span = self._positions.span(value_start, self._at)
        self._places[key] = Place(span, self._positions.span(start, self._at))

    def _header(self) -> Key:
        start = self._at
        doubled = self._text.startswith("[[", start)
        self._at += 2 if doubled else 1
        names = self._key()
        self._at += 2 if doubled else 1
        table: Key = ()
        for number, name in enumerate(names, 1):
            table = (*table, name)
            if doubled and number == len(names):
                self._counts[table] = self._counts.get(table, -1) + 1
            if table in self._counts:
                table = (*table, self._counts[table])
        self._note(table, start, start)
        return table

    def _key(self) -> list[str]:
        names = []
        while True:
            self._skip(_SPACE)
            quoted = self._skip(_STRING)
            names.append(_unquoted(quoted) if quoted else self._skip(_BARE))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return names
            self._at += 1

    def _assignment(self, table: Key) -> Key:
        start = self._at
        key = (*table, *self._key())
        self._at += 1
        self._skip(_SPACE)
        self._value(key, start)
        return table

    def _value(self, key: Key, start: int | None = None) -> None:
        value_start = self._at
        opening = self._text[self._at : self._at + 1]
        if opening in ("[", "{"):
            self._at += 1
            self._items(key, "]" if opening == "[" else "}")
        elif not self._skip(_STRING):
            self._at = value_start + len(self._skip(_SCALAR).rstrip())
        self._note(key, value_start, value_start if start is None else start)

    def _items(self, key: Key, closing: str) -> None:
        index = 0
        self._skip(_BLANK)
        while self._at < len(self._text) and self._text[self._at] != closing:
            if closing == "]":
                self._value((*key, index))
                index += 1
            else:
                self._assignment(key)
            self._skip(_BLANK)
            self._at += self._text.startswith(",", self._at)
            self._skip(_BLANK)
        self._at += 1


def _unquoted(key: str) -> str:
    """A key without its quotes and, in double ones, without escapes (those of TOML's that keys have are JSON's)."""
    return msgspec.json.decode(key.encode(), type=str) if key.startswith('"') else key[1:-1]


def own_lines(lines: Sequence[str], span: Span) -> Span | None:
    """Return the lines of a list item that shares them with nothing but a comma and a comment, else None.

    The comment lines above go with the item when they speak of nothing else.
    """
    before = lines[span.line - 1][: span.column - 1]
    behind = lines[span.end_line - 1][span.end_column - 1 :]
    if before.strip() or not re.fullmatch(r"\s*,?\s*(#.*)?", behind):
        return None
    first, last = span.line, span.end_line
    # Above further items the comment may speak of them, too.
    following = lines[last].strip() if last < len(lines) else ""
    if not following or following[0] in "#)]}":
        while first > 1 and lines[first - 2].strip().startswith("#"):
            first -= 1
    return whole_lines(lines, first, last)


def whole_lines(lines: Sequence[str], first: int, last: int) -> Span:
    """Return the span of the lines from ``first`` to ``last`` with their line ends."""
    if last < len(lines):
        return Span(first, 1, last + 1, 1)
    return Span(first, 1, last, len(lines[last - 1]) + 1)
