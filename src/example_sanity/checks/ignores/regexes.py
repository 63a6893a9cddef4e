"""Takes a regular expression apart into its alternatives, each of which is an entry of its own."""

from __future__ import annotations

import re

import msgspec

from example_sanity.core.patterns import Syntax, predicate
from example_sanity.core.regex import regex

_TOKEN = regex(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|.", re.DOTALL)
_TOKEN_VERBOSE = regex(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|#[^\n]*|.", re.DOTALL)


class Alternative(msgspec.Struct, frozen=True):
    """``text`` is the alternative as written, ``expression`` the whole expression with no other one in it."""

    text: str
    expression: str


def alternatives(expression: str) -> list[Alternative]:
    """Return the alternatives of a regular expression such as ``^(a/|b\\.py)$``, or the expression as its only one.

    Only alternatives that each name something are taken apart: ``(^|/)`` and ``\\.(png|svg)`` stay whole.
    """
    whole = [Alternative(expression.strip(), expression)]
    flags = re.match(r"\s*\(\?[aiLmsux]+\)", expression)
    start = flags.end() if flags else 0
    verbose = flags is not None and "x" in flags[0]
    found = _split(expression, start, _TOKEN_VERBOSE if verbose else _TOKEN)
    if found is None:
        return whole
    prefix, pieces, suffix = found
    texts = [_without_comments(piece) if verbose else piece for piece in pieces]
    if len(texts) < 2 or not all(re.search(r"\w{2,}", _bare(text)) for text in texts):
        return whole
    apart = [Alternative(text.strip(), f"{prefix}{text}{suffix}") for text in texts]
    return apart if all(_compiles(item.expression) for item in apart) else whole


def _compiles(expression: str) -> bool:
    """Whether an expression stands alone; one that refers to a group of another alternative does not."""
    try:
        predicate(expression, Syntax.REGEX)
    except re.error:
        return False
    return True


def _bare(text: str) -> str:
    return re.sub(r"\\.|\[.*?\]", "", text)


def _without_comments(piece: str) -> str:
    return re.sub(r"(?<!\\)#[^\n]*", "", piece)


def _split(expression: str, start: int, tokens: re.Pattern[str]) -> tuple[str, list[str], str] | None:
    """Split at the outermost bars; if there are none, at those of the only group."""
    bars, groups = _outline(expression, start, tokens)
    outer = bars.get(0, [])
    if outer:
        return _cut(expression, start, len(expression), outer)
    if len(groups) != 1 or expression[groups[0][1] + 1 : groups[0][1] + 2] in ("*", "+", "?", "{"):
        return None
    opening, closing = groups[0]
    if re.search(r"[\w.*+)\]-]$", expression[start:opening]):
        return None  # endings of one word, not names
    head = re.match(r"\((?:\?:)?(?!\?)", expression[opening:])
    return _cut(expression, opening + head.end(), closing, bars.get(1, [])) if head else None


def _outline(
    expression: str, start: int, tokens: re.Pattern[str]
) -> tuple[dict[int, list[int]], list[tuple[int, int]]]:
    """The offsets of bars by depth, and the extents of the outermost groups."""
    depth, opened = 0, start
    bars: dict[int, list[int]] = {}
    groups = []
    for found in tokens.finditer(expression, start):
        if found[0] == "(":
            opened = found.start() if depth == 0 else opened
            depth += 1
        elif found[0] == ")":
            depth -= 1
            if depth == 0:
                groups.append((opened, found.start()))
        elif found[0] == "|":
            bars.setdefault(depth, []).append(found.start())
    return bars, groups


def _cut(expression: str, start: int, end: int, bars: list[int]) -> tuple[str, list[str], str]:
    edges = [start, *(bar + 1 for bar in bars)]
    pieces = [expression[a:b] for a, b in zip(edges, [*bars, end], strict=True)]
    return expression[:start], pieces, expression[end:]
