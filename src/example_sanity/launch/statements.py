"""Commands, loops, functions and whatever else runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.launch import idioms
from example_sanity.launch.assignments import assign
from example_sanity.launch.branches import last_command
from example_sanity.launch.builtins import assigned_by, code_arguments
from example_sanity.launch.facts import Choice, RawCommand
from example_sanity.launch.words import REDIRECTS, merged, ranges, redirected_words, touch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from example_sanity.launch.walk import Context, Handler, Walk


def _comment(walk: Walk, node: Node, context: Context) -> None:
    walk.facts.comments.append((node.start_byte, node.end_byte))


def _apart(walk: Walk, node: Node, context: Context) -> None:
    """A shell of its own, or something that may not run: assignments do not last."""
    walk.push(node.named_children, context.inside_branch().commands())


def _compound(walk: Walk, node: Node, context: Context) -> None:
    walk.push(node.named_children, context.commands(walk.source.data.startswith(b"((", node.start_byte)))


def _for(walk: Walk, node: Node, context: Context) -> None:
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if variable is not None:
        walk.facts.assigned.add(walk.text_of(variable))
    head = [child for child in node.named_children if child not in {variable, body}]
    # A loop over nothing runs no body.
    walk.push([body] if body else [], context.inside_branch().commands())
    walk.push(head, context.commands(arithmetic=node.type == "c_style_for_statement"))


def _function(walk: Walk, node: Node, context: Context) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        walk.push(node.named_children, context)
        return
    text = walk.text_of(name)
    walk.facts.functions.append(text)
    walk.facts.last_commands[text] = last_command(walk, [body])
    # Functions are often defined and not called, so what they assign may never happen.
    walk.push([body], context._replace(function=text, conditional=True, empty=frozenset()))


def _redirected(walk: Walk, node: Node, context: Context) -> None:
    body = node.child_by_field_name("body")
    if body is not None and body.type == "command":
        walk.extra_words[body.start_byte] = redirected_words(node, body, walk.source.data)
    walk.push(node.named_children, context)


def _command(walk: Walk, node: Node, context: Context) -> None:
    children = node.named_children
    prefixes = [child for child in children if child.type == "variable_assignment"]
    others = [child for child in children if child.type != "variable_assignment"]
    nodes = [child for child in others if child.type not in REDIRECTS]
    words = merged([*ranges(nodes), *walk.extra_words.pop(node.start_byte, [])], walk.source.data)
    walk.push(others, context.commands())
    end = prefixes[-1].end_byte if prefixes else 0
    if prefixes and words and touch(end, words[0][0], walk.source.data):
        end = words.pop(0)[1]
    # Without a command the assignments are the shell's own; with one they are that command's environment.
    for prefix in prefixes:
        value = prefix.child_by_field_name("value")
        if not words:
            assign(walk, prefix, context, end if prefix == prefixes[-1] else prefix.end_byte)
        elif value is not None:
            walk.push([value], context)
    if words:
        _add(walk, words, context)


def _add(walk: Walk, words: list[tuple[int, int]], context: Context) -> None:
    texts = [walk.source.data[start:end] for start, end in words]
    walk.facts.raw_commands.append(RawCommand(words, context.function))
    name = texts[0]
    if name == b"test":
        _compare(walk, words[0][0], words[-1][1])
    elif name == b":":
        walk.facts.colons.append((words[0][0], words[-1][1]))
    elif name == b"set":
        _set(walk, texts[1:])
    walk.facts.assigned.update(assigned_by(texts))
    for index, pattern in code_arguments(texts):
        walk.scan(pattern, *words[index], context)


def _set(walk: Walk, arguments: Sequence[bytes]) -> None:
    for argument in arguments:
        letters = argument[1:] if argument.startswith((b"-", b"+")) else b""
        if b"a" in letters or (b"o" in letters and b"allexport" in arguments):
            walk.exports_all = argument.startswith(b"-")


def _test(walk: Walk, node: Node, context: Context) -> None:
    _compare(walk, node.start_byte, node.end_byte)
    walk.push(node.named_children, context)


def _compare(walk: Walk, start: int, end: int) -> None:
    for found in idioms.comparisons(walk.source.data[start:end]):
        walk.facts.choices.append(
            Choice(found.subject, (found.value,), start + found.start, start + found.end)
        )


HANDLERS: dict[str, Handler] = {
    "comment": _comment,
    "process_substitution": _apart,
    "subshell": _apart,
    "pipeline": _apart,
    "while_statement": _apart,
    "compound_statement": _compound,
    "for_statement": _for,
    "c_style_for_statement": _for,
    "function_definition": _function,
    "redirected_statement": _redirected,
    "command": _command,
    "test_command": _test,
}
