"""Assignments in all their shapes, arrays, declarations and ``unset``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.core.regex import regex
from example_sanity.launch import idioms
from example_sanity.launch.facts import RawArray, RawAssignment
from example_sanity.launch.source import decode
from example_sanity.launch.words import merged, ranges

if TYPE_CHECKING:
    from tree_sitter import Node

    from example_sanity.launch.walk import Context, Handler, Walk

_QUOTED_ASSIGNMENT = regex(rb"[\"']?([A-Za-z_][A-Za-z0-9_]*)(\+?=)")


class _Target(NamedTuple):
    """The left side of an assignment: its name, ``+=``, and where its value begins and ends."""

    name: str
    append: bool
    value_start: int
    end: int


def assigned_default(walk: Walk, node: Node, subject: Node, context: Context) -> None:
    """Collect the assignment that ``${NAME:=word}`` makes, unless it is the value of ``NAME`` itself."""
    name = walk.bytes_of(subject).split(b"[")[0]
    # The value of "A=${A:=x}" is read as a default already.
    before = walk.source.data[max(node.start_byte - len(name) - 3, 0) : node.start_byte]
    if not re.search(rb"(?:^|\W)" + name + rb'="?\Z', before):
        _add(walk, node, _Target(decode(name), False, node.start_byte, node.end_byte), node, context)


def _assignment(walk: Walk, node: Node, context: Context) -> None:
    assign(walk, node, context, node.end_byte)


def assign(walk: Walk, node: Node, context: Context, end: int) -> None:
    """Collect an assignment whose value ends at ``end``, which is behind the node where lines are continued."""
    target = node.child_by_field_name("name")
    if target is None:
        walk.push(node.named_children, context)
        return
    name = target
    if target.type == "subscript":
        name = target.child_by_field_name("name") or target
        index = target.child_by_field_name("index")
        walk.push(
            [index] if index else [], context.commands(walk.text_of(name) not in walk.facts.associative)
        )
    walk.push([child for child in node.named_children if child != target], context)
    if context.arithmetic:
        walk.facts.assigned.add(walk.text_of(name))
        return
    # The operator is an unnamed token, so looking at the byte is cheaper than asking for all children.
    append = walk.source.data.startswith(b"+", target.end_byte)
    left = _Target(walk.text_of(name), append, target.end_byte + (2 if append else 1), end)
    _add(walk, node, left, node.child_by_field_name("value"), context)


def _add(walk: Walk, node: Node, target: _Target, value: Node | None, context: Context) -> None:
    text = walk.source.data[target.value_start : target.end]
    walk.facts.assigned.add(target.name)
    # Between "set -a" and "set +a" every assignment exports.
    if walk.exports_all:
        walk.facts.exported.add(target.name)
    walk.facts.raw_assignments.append(
        RawAssignment(
            name=target.name,
            value=decode(text),
            default=idioms.default_of(text) if _is_expansion(value, target.end) else None,
            empty_before=target.name in context.empty,
            start=node.start_byte,
            end=target.end,
            array=value is not None and value.type == "array",
            append=target.append,
            conditional=context.conditional,
            function=context.function,
        )
    )


def _is_expansion(value: Node | None, end: int) -> bool:
    """Whether a value that ends at ``end`` is one expansion, in double quotes or without."""
    if value is None or value.end_byte != end:
        return False
    if value.type == "expansion":
        return True
    if value.type != "string" or value.named_child_count != 1:
        return False
    inner = value.named_children[0]
    whole = inner.start_byte == value.start_byte + 1 and inner.end_byte == value.end_byte - 1
    return whole and inner.type == "expansion"


def _array(walk: Walk, node: Node, context: Context) -> None:
    owner = node.parent
    name = owner.child_by_field_name("name") if owner is not None else None
    if owner is not None and name is not None:
        words = merged(
            ranges(child for child in node.named_children if child.type != "comment"), walk.source.data
        )
        append = walk.source.data.startswith(b"+", name.end_byte)
        walk.facts.raw_arrays.append(
            RawArray(walk.text_of(name), words, append, owner.start_byte, owner.end_byte)
        )
    walk.push(node.named_children, context)


def _declaration(walk: Walk, node: Node, context: Context) -> None:
    keyword = node.children[0].type
    children = node.named_children
    options = "".join(walk.text_of(child)[1:] for child in children if child.type == "word")
    exports = "n" not in options if keyword == "export" else "x" in options
    data = walk.source.data
    # "export A=$B:$C/x" comes as an assignment and a word that touch.
    for start, end in merged(ranges(children), data):
        pieces = [child for child in children if start <= child.start_byte < end]
        name = _declared(walk, pieces[0], keyword)
        if name and exports:
            walk.facts.exported.add(name)
        if name and "A" in options:
            walk.facts.associative.add(name)
        _declared_value(walk, pieces, end, context)


def _declared(walk: Walk, child: Node, keyword: str) -> str | None:
    """Return the name that one word of a declaration is about; ``declare NAME`` sets it, ``export NAME`` does not."""
    if child.type == "variable_name":
        name = walk.text_of(child)
        if keyword not in {"export", "readonly"}:
            walk.facts.assigned.add(name)
        return name
    found = _QUOTED_ASSIGNMENT.match(walk.bytes_of(child))
    return decode(found[1]) if found else None


def _declared_value(walk: Walk, pieces: list[Node], end: int, context: Context) -> None:
    """Collect the assignment that a word of a declaration makes, if any; it may be cut into pieces that touch."""
    first = pieces[0]
    if first.type == "variable_assignment":
        walk.push(pieces[1:], context)
        assign(walk, first, context, end)
        return
    found = _QUOTED_ASSIGNMENT.match(walk.bytes_of(first))
    if found:
        target = _Target(decode(found[1]), found[2] == b"+=", first.start_byte + found.end(), end)
        _add(walk, first, target, None, context)
    walk.push(pieces, context)


def _unset(walk: Walk, node: Node, context: Context) -> None:
    for child in node.named_children:
        if child.type != "variable_name":
            walk.push([child], context)
        # An unset that may not run leaves the environment's value on the other path.
        elif not context.conditional:
            walk.facts.unset.append((walk.text_of(child), child.start_byte))


HANDLERS: dict[str, Handler] = {
    "variable_assignment": _assignment,
    "array": _array,
    "declaration_command": _declaration,
    "unset_command": _unset,
}
