"""Words of commands and arrays: the grammar splits some of them, and puts some behind a redirection."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


Range: TypeAlias = "tuple[int, int]"

REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})


_CONTINUATION = regex(rb"(?:\\\r?\n)*")


def ranges(nodes: Iterable[Node]) -> list[Range]:
    """Return the byte ranges of nodes."""
    return [(node.start_byte, node.end_byte) for node in nodes]


def merged(pieces: Iterable[Range], data: bytes) -> list[Range]:
    """Return the byte ranges of words; pieces that touch, if only across a continued line, are one word."""
    words: list[Range] = []
    for start, end in sorted(pieces):
        if words and touch(words[-1][1], start, data):
            words[-1] = (words[-1][0], end)
        elif end > start:
            words.append((start, end))
    return words


def touch(end: int, start: int, data: bytes) -> bool:
    """Whether nothing but backslash-newlines stands between two offsets."""
    return end == start or (
        data.startswith(b"\\", end) and _CONTINUATION.fullmatch(data, end, start) is not None
    )


def redirected_words(statement: Node, body: Node, data: bytes) -> list[Range]:
    """Return the words of a command that stand behind its redirections (``cmd >log word``, ``cmd <<EOF word``).

    The ``-`` of ``cmd - <<EOF`` is in no node at all; it is found in the gap in front of the redirection.
    """
    redirects = statement.children_by_field_name("redirect")
    words: list[Range] = []
    for redirect in redirects:
        if redirect.type == "heredoc_redirect":
            words += ranges(redirect.children_by_field_name("argument"))
            words += _behind_targets(redirect.children_by_field_name("redirect"), data)
    words += _behind_targets(redirects, data)
    gap = data[body.end_byte : redirects[0].start_byte] if redirects else b""
    if gap.strip() != b"-":
        return words
    dash = body.end_byte + gap.index(b"-")
    return [(dash, dash + 1), *words]


def _behind_targets(redirects: Iterable[Node], data: bytes) -> list[Range]:
    """Return the words behind the file of each redirection; the grammar takes all of them for files."""
    files = (redirect for redirect in redirects if redirect.type == "file_redirect")
    return [
        word
        for file in files
        for word in merged(ranges(file.children_by_field_name("destination")), data)[1:]
    ]
