"""A script's bytes, the tree that tree-sitter-bash makes of them, and positions in both."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from example_sanity.core.finding import Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

# The scanner dies of some code points above ASCII, and it takes NUL for the end. A full stop is no part of a name in
# bash, just as those bytes are none ("$NAMEé" expands NAME).
_MASK = bytes(byte if 0 < byte < 0x80 else ord(".") for byte in range(256))
_LITERAL_DOLLAR = regex(rb"\$(?=[\x80-\xff])")
# "${x:$i:2}" makes the grammar end the expansion early; "${x:_i:2}" has the same shape and length.
_OFFSET = regex(rb"(\$\{(?:\w+|@|\*)(?:\[[^\]\n]*\])?:)\$(?=[A-Za-z_])")

# A newline in front of "\ls" becomes part of a word otherwise, and two commands become one.
_ESCAPED_COMMAND = regex(rb"^([ \t]*)\\(?=[A-Za-z])", re.MULTILINE)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


@lru_cache(maxsize=2)  # what is read of a script is rewritten next, for the sandbox
def tree_of(data: bytes) -> Tree:
    """Return the syntax tree of bytes that are safe to parse."""
    return _parser().parse(data)


def masked(data: bytes) -> bytes:
    """Return a copy of the same length that is safe to parse and gives the same tree."""
    copy = data if data.isascii() else _LITERAL_DOLLAR.sub(b".", data)
    copy = _ESCAPED_COMMAND.sub(rb"\1 ", copy.translate(_MASK))
    return _OFFSET.sub(rb"\1_", copy) if b":$" in copy else copy


class Source:
    """Bytes, tree, and the way from byte offsets to lines and columns (both from 1, columns in characters)."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree of the masked copy; its offsets hold for ``data``."""
        return tree_of(masked(self.data))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(rb"\n", self.data))]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a byte offset."""
        row = bisect_right(self._line_starts, offset) - 1
        return row + 1, _width(self.data[self._line_starts[row] : offset]) + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of the bytes from ``start`` to ``end`` (exclusive)."""
        starts = self._line_starts
        row = bisect_right(starts, start)
        column = _width(self.data[starts[row - 1] : start]) + 1
        if row == len(starts) or end < starts[row]:
            return Span(row, column, row, column + _width(self.data[start:end]))
        return Span(row, column, *self.position(end))

    def text(self, start: int, end: int) -> str:
        """Return the source text between two byte offsets."""
        return decode(self.data[start:end])


def _width(text: bytes) -> int:
    return len(text) if text.isascii() else len(decode(text))


def decode(data: bytes) -> str:
    """Return text with undecodable bytes kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")
