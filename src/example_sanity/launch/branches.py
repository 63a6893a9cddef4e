"""``if``, ``case`` and lists: what they decide by, what they stop at, which variables are empty in a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from example_sanity.launch import idioms
from example_sanity.launch.facts import Choice, RawGuard
from example_sanity.launch.words import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from example_sanity.launch.walk import Context, Handler, Walk

Range = tuple[int, int]

_CLAUSES = frozenset({"elif_clause", "else_clause"})
_MAX_CONDITION = 5_000  # bytes

# "echo why && exit 1" stops whatever was echoed.
_REPORTS = (b"echo ", b"printf ")


class _Question(NamedTuple):
    """What a guard asks: the conditions, and the form that their text is shown in."""

    form: str
    conditions: tuple[Range, ...]


class _Clause(NamedTuple):
    """One branch of an ``if``; ``else`` has no head."""

    head: list[Node]
    body: list[Node]

    @property
    def condition(self) -> Range:
        return self.head[0].start_byte, self.head[-1].end_byte


def _if(walk: Walk, node: Node, context: Context) -> None:
    clauses = [_clause(node), *(_clause(child) for child in node.named_children if child.type in _CLAUSES)]
    conditions = [clause.condition for clause in clauses if clause.head]
    inside = context.inside_branch()
    # What is pushed last is walked first, so the clauses go onto the stack from the end.
    for number, clause in reversed(list(enumerate(clauses))):
        if clause.head:
            start, end = clause.condition
            known = idioms.empty_names(walk.source.data[start:end])
            _guard(walk, node, clause.body, _Question("{}", (clause.condition,)), context)
        else:
            known = _empty_otherwise(walk, conditions)
            _guard(walk, node, clause.body, _Question("! {{ {}; }}", tuple(conditions)), context)
        walk.push(clause.body, _with_empty(inside, known))
        # Only the first condition always runs.
        walk.push(clause.head, inside if number else context)


def _clause(node: Node) -> _Clause:
    """Split a clause into condition and body; the other clauses of an ``if`` belong to neither."""
    clause = _Clause([], [])
    current = clause.body if node.type == "else_clause" else clause.head
    for child in node.children:
        if child.type == "then":
            current = clause.body
        elif child.is_named and child.type not in _CLAUSES:
            current.append(child)
    return clause


def _empty_otherwise(walk: Walk, conditions: Sequence[Range]) -> frozenset[str]:
    # Behind several conditions it is not known which of them decided.
    if len(conditions) != 1:
        return frozenset()
    return idioms.empty_names_otherwise(walk.source.data[slice(*conditions[0])])


def _with_empty(context: Context, names: frozenset[str]) -> Context:
    return context._replace(empty=context.empty | names) if names else context


def _case(walk: Walk, node: Node, context: Context) -> None:
    value = node.child_by_field_name("value")
    if value is None:
        walk.push(node.named_children, context.inside_branch())
        return
    labels: list[str] = []
    for item in node.named_children:
        if item.type == "case_item":
            patterns = item.children_by_field_name("value")
            labels += filter(None, (idioms.label(walk.bytes_of(pattern)) for pattern in patterns))
            body = [child for child in item.named_children if child not in patterns]
            shown = " | ".join(walk.text_of(pattern) for pattern in patterns)
            form = "case {} in " + shown.replace("{", "{{").replace("}", "}}") + ")"
            _guard(walk, node, body, _Question(form, (_range(value),)), context)
    subject = idioms.subject_of(walk.bytes_of(value))
    if subject is not None and labels:
        walk.facts.choices.append(
            Choice(subject, tuple(dict.fromkeys(labels)), value.start_byte, value.end_byte)
        )
    walk.push([child for child in node.named_children if child != value], context.inside_branch())
    walk.push([value], context)


def _list(walk: Walk, node: Node, context: Context) -> None:
    children = node.named_children
    if len(children) < 2:  # half a list, in a script that does not parse
        walk.push(children, context)
        return
    left, right = children[0], children[-1]
    both = b"&&" in walk.source.data[left.end_byte : right.start_byte]
    known: frozenset[str] = frozenset()
    # A chain nests to the left, so each of its lists would read all that comes before again.
    if left.end_byte - left.start_byte < _MAX_CONDITION:
        condition = walk.bytes_of(left)
        known = idioms.empty_names(condition) if both else idioms.empty_names_otherwise(condition)
        if not condition.startswith(_REPORTS):
            form = "{}" if both else "! {{ {}; }}"
            _guard(walk, node, [right], _Question(form, (_range(left),)), context)
    walk.push(children[1:], _with_empty(context.inside_branch(), known))
    walk.push([left], context)


def _guard(walk: Walk, node: Node, body: list[Node], question: _Question, context: Context) -> None:
    last = last_command(walk, body)
    if last is not None:
        where = (*_range(node), walk.statement_end)
        walk.facts.raw_guards.append(RawGuard(last, *question, where, context.function))


def _range(node: Node) -> Range:
    return node.start_byte, node.end_byte


def last_command(walk: Walk, body: Sequence[Node]) -> tuple[bytes, ...] | None:
    """Return the first two words of the command that a body ends in; None where it ends in something else."""
    nodes = list(body)
    while nodes:
        last = nodes.pop()
        if last.type == "command":
            return tuple(walk.bytes_of(child) for child in last.named_children[:2])
        # Anything else that ends a body may not run, or runs in a shell of its own.
        reports = last.type == "list" and walk.bytes_of(last).startswith(_REPORTS)
        if reports or last.type in {"compound_statement", "redirected_statement"}:
            nodes = [child for child in last.named_children if child.type not in REDIRECTS]
        elif last.type != "comment":
            return None
    return None


HANDLERS: dict[str, Handler] = {"if_statement": _if, "case_statement": _case, "list": _list}
