"""Plain values as documents, shells and sources write them, and whether two of them are the same."""

from __future__ import annotations

import re
from typing import TypeAlias

from example_sanity.core.regex import regex


class Unknown:
    """A value that cannot be told."""


UNKNOWN = Unknown()
Literal: TypeAlias = "bool | int | float | str | Unknown | None"

_NUMBER = regex(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORDS: dict[str, bool | None] = {
    "true": True,
    "false": False,
    "on": True,
    "off": False,
    "yes": True,
    "no": False,
    "none": None,
    "null": None,
    "unset": None,
}


def documented(cell: str) -> Literal:
    """Return the value that a cell of a table gives, where it is one piece of code or one plain word."""
    text = cell.strip()
    quoted = re.fullmatch(r"`([^`]+)`", text)
    inner = quoted[1].strip() if quoted else text.strip("*_ ")
    if not inner.isascii() or re.search(r"[\s`$<>{}()|]|\.\.\.|\?\?\?|^~|\*", inner):
        return UNKNOWN
    if quoted is None and not (_NUMBER.fullmatch(inner) or inner.lower() in _WORDS):
        return UNKNOWN  # a word of the text: "required", "optional", "auto"
    return literal(inner)


def literal(text: str) -> Literal:
    """Return the value of a word; one with an expansion has none that is known."""
    inner = text.strip().strip("\"'")
    if re.search(r"[$`\[\]{}<>]", inner):
        return UNKNOWN
    if inner.lower() in _WORDS:
        return _WORDS[inner.lower()]
    if _NUMBER.fullmatch(inner):
        return float(inner)
    return inner


def same(one: Literal, other: Literal) -> bool:
    """Return whether two values are equal, however they are written; 0 and 1 stand for switches, too."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return True
    left, right = _plain(one), _plain(other)
    if isinstance(left, str) and isinstance(right, str):
        return left.strip("/") == right.strip("/")
    if left in (None, "", False) and right in (None, "", False):
        return True  # nothing, however it is written
    return left == right


def _plain(value: Literal) -> Literal:
    return literal(value) if isinstance(value, str) else value


def shown(value: Literal) -> str:
    """Return a value for a message."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "empty" if value == "" else str(value)
