"""Words of commands and arrays: the grammar splits some of them, and puts some behind a redirection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})


def merged(nodes: Iterable[Node]) -> list[tuple[int, int]]:
    """Return the byte ranges of words; nodes that touch each other are one word."""
    words: list[tuple[int, int]] = []
    for node in sorted(nodes, key=_start):
        if words and words[-1][1] == node.start_byte:
            words[-1] = (words[-1][0], node.end_byte)
        elif node.end_byte > node.start_byte:
            words.append((node.start_byte, node.end_byte))
    return words


def _start(node: Node) -> int:
    return node.start_byte


def redirected_words(statement: Node) -> list[Node]:
    """Return the words of a command that stand behind its redirections (``cmd >log word``, ``cmd <<EOF word``)."""
    extra: list[Node] = []
    for redirect in statement.children_by_field_name("redirect"):
        if redirect.type == "file_redirect":
            extra += redirect.children_by_field_name("destination")[1:]
        elif redirect.type == "heredoc_redirect":
            extra += redirect.children_by_field_name("argument")
            for nested in redirect.children_by_field_name("redirect"):
                extra += nested.children_by_field_name("destination")[1:]
    return extra
