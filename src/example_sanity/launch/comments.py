"""The comments of a shell script, and the statements that they stand in front of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.comments import NOTHING, Comment, marked, top_of_script
from example_sanity.core.project import SHELL_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from example_sanity.launch.source import Source

# What statements stand in, one below the other.
_BLOCKS = frozenset(
    {
        "program",
        "compound_statement",
        "do_group",
        "subshell",
        "if_statement",
        "elif_clause",
        "else_clause",
        "case_statement",
        "case_item",
    }
)


class ShellComments:
    """Shell scripts. A comment covers the whole statement below it, or the element of an array."""

    opening = "# "
    closing = ""
    blank_after = False

    def matches(self, path: str) -> bool:
        """Return whether the file is a script by its name; scripts without a suffix are known by their first line."""
        return path.endswith(SHELL_SUFFIXES)

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs; what a string or a here-document holds is none."""
        lines = text.split("\n")
        found = list(marked(lines, "#", word))
        if not found:
            return []  # without a parser
        source = _source(text)
        result = []
        for number, column, end, content in found:
            node = _node_at(source, lines, number, column)
            if node is not None and node.type == "comment":
                own = not lines[number - 1][: column - 1].strip()
                covers = _statement_below(node) if own else (number, number)
                result.append(Comment(number, column, end, content, covers, own))
        return result

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the first lines of the statements around the line, the innermost first."""
        source = _source(text)
        lines = text.split("\n")
        column = len(lines[line - 1]) - len(lines[line - 1].lstrip()) + 1
        node = _node_at(source, lines, line, column)
        while node is not None and node.parent is not None:
            first = node.start_point[0]
            before = lines[first].encode("utf-8", "surrogateescape")[: node.start_point[1]]
            if node.parent.type in _BLOCKS and node.is_named and not before.strip():
                yield first + 1
            node = node.parent

    def top(self, text: str) -> int:
        """Return the line below the interpreter."""
        return top_of_script(text)

    def structure(self, text: str) -> object:
        """Return the nodes of the syntax tree that are no comments, with the text of the leaves."""
        source = _source(text)
        found: list[tuple[int, str, bytes | None]] = []
        stack = [(source.tree.root_node, 0)]
        while stack:
            node, depth = stack.pop()
            if node.type == "comment":
                continue
            leaf = source.data[node.start_byte : node.end_byte] if not node.child_count else None
            found.append((depth, node.type, leaf if leaf is None else leaf.strip()))
            stack.extend((child, depth + 1) for child in reversed(node.children))
        return found

    def is_valid(self, text: str) -> bool:
        """Return whether the whole text parses."""
        return not _source(text).tree.root_node.has_error


def _source(text: str) -> Source:
    from example_sanity.launch.source import Source

    return Source(text.encode("utf-8", "surrogateescape"))


def _node_at(source: Source, lines: list[str], line: int, column: int) -> Node | None:
    before = [*lines[: line - 1], lines[line - 1][: column - 1]]
    offset = len("\n".join(before).encode("utf-8", "surrogateescape"))
    return source.tree.root_node.descendant_for_byte_range(offset, offset + 1)


def _statement_below(comment: Node) -> tuple[int, int]:
    node = comment.next_named_sibling
    while node is not None and node.type == "comment":
        node = node.next_named_sibling
    if node is None:
        return NOTHING
    last, column = node.end_point
    return node.start_point[0] + 1, last + (1 if column else 0)
