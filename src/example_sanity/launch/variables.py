"""Reads of variables: expansions, subscripts and arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch import idioms
from example_sanity.launch.assignments import assigned_default
from example_sanity.launch.source import decode

if TYPE_CHECKING:
    from tree_sitter import Node

    from example_sanity.launch.walk import Context, Handler, Walk

_OPERATOR = regex(rb":?[-=?+]")
_ARITHMETIC_ASSIGN = regex(rb"\s*(?:(=)(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)")


def _simple_expansion(walk: Walk, node: Node, context: Context) -> None:
    for name in node.named_children:
        if name.type == "variable_name" or walk.bytes_of(name) in {b"@", b"*", b"#"}:
            walk.read(name.start_byte, name.end_byte, context)


def _expansion(walk: Walk, node: Node, context: Context) -> None:
    children = node.named_children
    if not children:
        return
    subject, data = children[0], walk.source.data
    found = _OPERATOR.match(data, subject.end_byte, node.end_byte)
    operator = decode(found[0]) if found else ""
    prefix_query = data.startswith(b"!", node.start_byte + 2) and data[subject.end_byte : node.end_byte] in {
        b"@}",
        b"*}",
    }
    # "${!NAME@}" lists names that begin with NAME and reads none of them.
    if subject.type == "subscript":
        _subscript(walk, subject, context, operator)
    elif subject.type == "variable_name" or walk.bytes_of(subject) in {b"@", b"*", b"#"}:
        if not prefix_query:
            walk.read(subject.start_byte, subject.end_byte, context, operator)
    else:
        walk.push([subject], context)
    if operator.endswith("?"):
        walk.facts.required[subject.start_byte] = (node.start_byte, node.end_byte)
    if operator.endswith("="):
        assigned_default(walk, node, subject, context)
    # "${X:START:LENGTH}" takes arithmetic, in which names stand bare.
    if not operator and data.startswith(b":", subject.end_byte):
        context = context.commands(arithmetic=True)
    _operands(walk, node, children[1:], context)


def _operands(walk: Walk, node: Node, operands: list[Node], context: Context) -> None:
    for operand in operands:
        # Single quotes do not quote inside of double quotes: "${X:-'$Y'}".
        quoted = operand.type == "raw_string" and node.parent is not None and node.parent.type == "string"
        if operand.type == "regex" or quoted:
            walk.scan(idioms.DOLLAR_NAME, operand.start_byte, operand.end_byte, context)
    if operands:
        walk.push(operands, context)


def _subscript_node(walk: Walk, node: Node, context: Context) -> None:
    _subscript(walk, node, context)


def _subscript(walk: Walk, node: Node, context: Context, operator: str = "") -> None:
    name, index = node.child_by_field_name("name"), node.child_by_field_name("index")
    if name is None:
        return
    walk.read(name.start_byte, name.end_byte, context, operator)
    if index is not None:
        # The index of an associative array is text.
        walk.push([index], context.commands(arithmetic=walk.text_of(name) not in walk.facts.associative))


def _variable_name(walk: Walk, node: Node, context: Context) -> None:
    """A name that stands bare: a read in arithmetic, where it may also be set; elsewhere plain text."""
    if not context.arithmetic:
        return
    start, end, data = node.start_byte, node.end_byte, walk.source.data
    if data[start : start + 1].isdigit():
        return
    found = _ARITHMETIC_ASSIGN.match(data, end)
    if found or data[max(start - 2, 0) : start] in {b"++", b"--"}:
        walk.facts.assigned.add(walk.source.text(start, end))
    if not (found and found[1]):
        walk.read(start, end, context)


def _arithmetic(walk: Walk, node: Node, context: Context) -> None:
    walk.push(node.named_children, context.commands(arithmetic=True))


def _substitution(walk: Walk, node: Node, context: Context) -> None:
    text = walk.bytes_of(node)
    # In here documents the grammar takes "$((a * b))" for a command substitution around a subshell.
    if text.startswith(b"$((") and text.endswith(b"))"):
        walk.scan(idioms.ARITHMETIC_NAME, node.start_byte + 3, node.end_byte - 2, context)
    else:
        walk.push(node.named_children, context.inside_branch().commands())


def _unary(walk: Walk, node: Node, context: Context) -> None:
    children = node.named_children
    if len(children) == 2 and walk.bytes_of(children[0]) == b"-v":
        walk.read(children[1].start_byte, children[1].end_byte, context, operator="-")
    walk.push(children, context)


def _concatenation(walk: Walk, node: Node, context: Context) -> None:
    walk.push(node.named_children, context)
    # The grammar cuts "a/$B/c" into "a/$" and "B/c", in two nodes that touch.
    dollar = node.end_byte - 1
    if walk.source.data.startswith(b"$", dollar):
        found = idioms.DOLLAR_NAME.match(walk.source.data, dollar)
        if found:
            walk.read(*found.span(1), context)


HANDLERS: dict[str, Handler] = {
    "simple_expansion": _simple_expansion,
    "expansion": _expansion,
    "concatenation": _concatenation,
    "subscript": _subscript_node,
    "variable_name": _variable_name,
    "arithmetic_expansion": _arithmetic,
    "command_substitution": _substitution,
    "unary_expression": _unary,
}
