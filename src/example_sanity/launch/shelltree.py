"""Where things stand in the syntax tree of a script: words, statements, blocks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Language, Query, QueryCursor
from tree_sitter_bash import language

from example_sanity.core.regex import regex
from example_sanity.launch import operand
from example_sanity.launch.source import tree_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _words("""program compound_statement do_group subshell command_substitution process_substitution if_statement elif_clause
    else_clause while_statement case_item""")
STATEMENTS = _words("""command declaration_command unset_command test_command variable_assignment variable_assignments for_statement
    case_statement redirected_statement compound_statement list pipeline negated_command subshell while_statement
    if_statement select_statement""")
_QUERY = """
(expansion) @expansion
(command) @command
(brace_expression) @brace
"""
_PLACES = {
    **dict.fromkeys(("command", "array", "for_statement", "unset_command"), "words"),
    "variable_assignment": "assignment",
    **dict.fromkeys(("case_statement", "file_redirect", "herestring_redirect", "heredoc_body"), "scalar"),
    "arithmetic_expansion": "scalar",
}
_BRACKETS = {"test_command": {"[": "words", "[[": "scalar"}, "compound_statement": {"((": "scalar"}}
_NO_PLACES = _words("ERROR c_style_for_statement subscript")
CANDIDATE = regex(r"\$\{(?:!?[A-Za-z_]\w*(?:\[[^\]@*]+\])?|\d+)(:?[-=+])")


@lru_cache(maxsize=1)
def _query() -> Query:
    return Query(Language(language()), _QUERY)


def parsed(text: str) -> Node:
    """Parse with every character beyond ASCII replaced: some crash the grammar's scanner, and offsets stay right."""
    return tree_of(re.sub(r"[^\x00-\x7f]", "x", text).encode("ascii")).root_node


def captures(root: Node) -> dict[str, list[Node]]:
    """Return the nodes that rewriting looks at, by kind: expansion, command, brace."""
    return QueryCursor(_query()).captures(root)


def structure(text: str) -> tuple[Node, bool]:
    """Parse ``text``, with the operands masked where they keep the grammar from reading the statement."""
    root = parsed(text)
    if not root.has_error:
        return root, True
    masked = _mask(text, root)
    again = parsed(masked)
    return (again, True) if not again.has_error else (root, False)


def _mask(text: str, root: Node) -> str:
    parts = []
    position = 0
    for match in CANDIDATE.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match.start() < position or text[line_start : match.start()].lstrip().startswith("#"):
            continue
        node = root.descendant_for_byte_range(match.start(), match.start() + 1)
        end = operand.close_of_expansion(text, match.end(), node is not None and is_quoted(node))
        if end is not None:
            parts += [text[position : match.end()], "x" * (end - match.end())]
            position = end
    return "".join([*parts, text[position:]])


def is_quoted(node: Node) -> bool:
    """Whether ``node`` stands inside double quotes, a here-document or arithmetic."""
    current: Node | None = node
    while current is not None:
        if current.type in ("string", "heredoc_body", "arithmetic_expansion"):
            return True
        if current.type in ("command_substitution", "process_substitution", "array"):
            return False
        current = current.parent
    return False


def place_of(node: Node) -> tuple[Node, str] | None:
    """Climb from an expansion to the word that it is part of; say how bash treats that word."""
    word = node
    while word.parent is not None:
        parent = word.parent
        kind = parent.type
        if kind in _PLACES:
            return word, _PLACES[kind]
        if kind in _BRACKETS and parent.children[0].type in _BRACKETS[kind]:
            return word, _BRACKETS[kind][parent.children[0].type]
        if (
            kind in BLOCKS
            or kind in _NO_PLACES
            or (kind == "binary_expression" and _is_pattern(parent, word))
        ):
            return None
        if kind in ("binary_expression", "unary_expression") and word.type == "expansion":
            return _place_of_test(word, parent)
        word = parent
    return None


def _is_pattern(parent: Node, word: Node) -> bool:
    operator = parent.child_by_field_name("operator")
    return (
        operator is not None
        and operator.type in ("==", "=", "!=", "=~")
        and parent.child_by_field_name("right") == word
    )


def _place_of_test(word: Node, parent: Node) -> tuple[Node, str] | None:
    top: Node | None = parent
    while top is not None and top.type.endswith("_expression"):
        top = top.parent
    if top is not None and top.type == "test_command" and top.children[0].type == "[":
        return word, "words"
    if top is None or top.type in ("c_style_for_statement", "subscript"):
        return None
    return word, "scalar"


def statement_of(word: Node) -> Node | None:
    """Return the simple statement that ``word`` belongs to."""
    node = word.parent
    while node is not None:
        if node.type in ("c_style_for_statement", "ERROR"):
            return None
        if node.type == "variable_assignment" and node.parent is not None:
            if node.parent.type in ("command", "declaration_command", "variable_assignments"):
                node = node.parent
            return node
        if node.type in STATEMENTS:
            return node
        node = node.parent
    return None


def in_arithmetic(text: str, node: Node) -> bool:
    """Whether the grammar took the inside of ``$(( ))`` for a command."""
    current = node.parent
    while current is not None:
        if current.type in ("command_substitution", "subshell") and text.startswith(
            ("$((", "(("), current.start_byte
        ):
            return True
        current = current.parent
    return False
