"""Move the operand of an expansion in front of its statement, where the sandbox may misread it in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch import operand
from example_sanity.launch.rewriting import Context, Edits, put_before
from example_sanity.launch.shelltree import CANDIDATE, is_quoted, place_of, statement_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = regex(r"!?[A-Za-z_]\w*(?:\[[^\]@*]+\])?|\d+")
_OPERATOR = regex(r":?[-=+]")
_GIVEN = frozenset({"HOME", "PATH", "PWD", "USER"})
_PLAIN_READ = regex(r"\$(?:\{([A-Za-z_]\w*)[}\[]|([A-Za-z_]\w*)|(\d))")


class _Expansion(msgspec.Struct, frozen=True):
    """``${name operator operand}`` in the text."""

    name: str
    operator: str
    operand: str
    start: int
    end: int
    quoted: bool

    @property
    def test(self) -> str:
        return f'[[ -n "${{{self.name}:-}}" ]]' if ":" in self.operator else f'[[ -n "${{{self.name}+x}}" ]]'

    @property
    def value(self) -> str:
        return f"${{{self.name}}}"


def _read_expansion(text: str, node: Node) -> _Expansion | None:
    start = node.start_byte
    name = _NAME.match(text, start + 2)
    operator = _OPERATOR.match(text, name.end()) if name else None
    if name is None or operator is None:
        return None
    quoted = is_quoted(node.parent) if node.parent else False
    end = operand.close_of_expansion(text, operator.end(), quoted)
    if end is None:
        return None
    body = text[operator.end() : end]
    return _Expansion(name.group(), operator.group(), body, start, end + 1, quoted)


def _risky(expansion: _Expansion, nounset: bool) -> bool:
    body = expansion.operand
    if "<<" in body or "$?" in body:
        return False
    if operand.has_quoting(body):
        return True
    if not nounset:
        return False
    reads = ("".join(groups) for groups in _PLAIN_READ.findall(body))
    return any(name not in _GIVEN for name in reads)


def move(text: str, node: Node, context: Context, edits: Edits) -> tuple[int, int] | None:
    """Move the operand of an expansion where the sandbox may misread it; return the stretch that is settled then."""
    expansion = _read_expansion(text, node)
    place = place_of(node) if expansion is not None and _risky(expansion, context.nounset) else None
    statement = statement_of(place[0]) if place else None
    if expansion is None or place is None or statement is None:
        return None
    word, kind = place
    if "$?" in text[statement.start_byte : statement.end_byte]:
        return None
    if kind == "assignment" and _whole_assignment(statement, word, text):
        return _branch(text, expansion, statement, context, edits)
    moved = _prelude(text, expansion, word, kind, context)
    if moved is None or not put_before(text, statement, moved[0], edits):
        return None
    edits.add(*moved[1:])
    return moved[1], moved[2]


def _whole_assignment(statement: Node, word: Node, text: str) -> bool:
    """Whether the statement is one assignment with one operand to move: then it goes into both branches whole."""
    if statement.type != "variable_assignment" or word.parent != statement:
        return False
    source = text[word.start_byte : word.end_byte]
    return len(CANDIDATE.findall(source)) == 1 or word.type == "expansion"


def _branch(
    text: str, expansion: _Expansion, statement: Node, context: Context, edits: Edits
) -> tuple[int, int]:
    start, end = statement.start_byte, statement.end_byte
    head, tail = text[start : expansion.start], text[expansion.end : end]
    if "=" in expansion.operator:
        store = _store(expansion, context)
        new = f"{{ if ! {expansion.test}; then {store}; fi; {head}{expansion.value}{tail}; }}"
        edits.add(start, end, new)
        return start, end
    body = _assigned(expansion)
    inner = context.moved(expansion.start)
    chosen = inner.rewrite(f"{head}{body}{tail}")
    other = head + (expansion.value if "-" in expansion.operator else "") + tail
    yes, no = (other, chosen) if "-" in expansion.operator else (chosen, other)
    edits.add(start, end, f"if {expansion.test}; then {yes}; else {no}; fi")
    return start, end


def _assigned(expansion: _Expansion) -> str:
    if expansion.quoted:
        return operand.as_double_quoted(expansion.operand)
    return operand.as_assigned(expansion.operand, split=False)


def _store(expansion: _Expansion, context: Context) -> str:
    body = _assigned(expansion)
    source = f'{expansion.name}="{body}"' if expansion.quoted else f"{expansion.name}={body}"
    return _tolerant(context.moved(expansion.start).rewrite(source), body)


def _tolerant(assignment: str, body: str) -> str:
    """Keep ``set -e`` from stopping at a failing substitution: inside the operand of a word it would not."""
    return f"{assignment} || :" if "$(" in body or "`" in body else assignment


def _prelude(
    text: str, expansion: _Expansion, word: Node, kind: str, context: Context
) -> tuple[str, int, int, str] | None:
    """Return the text to put before the statement, and the stretch to replace with its new text."""
    if "=" in expansion.operator:
        store = _store(expansion, context)
        return f"if ! {expansion.test}; then {store}; fi", expansion.start, expansion.end, expansion.value
    name = context.fresh()
    if kind == "words" and not expansion.quoted:
        return _array_prelude(text, expansion, word, name, context)
    body = _assigned(expansion)
    source = f'{name}="{body}"' if expansion.quoted else f"{name}={body}"
    chosen = _tolerant(context.moved(expansion.start).rewrite(source), body)
    other = f"{name}={expansion.value if '-' in expansion.operator else ''}"
    new = f'"${{{name}}}"' if kind == "scalar" and not expansion.quoted else f"${{{name}}}"
    return _choice(expansion, other, chosen), expansion.start, expansion.end, new


def _array_prelude(
    text: str, expansion: _Expansion, word: Node, name: str, context: Context
) -> tuple[str, int, int, str] | None:
    """An unquoted operand may become several words, so the whole word goes through an array."""
    head, tail = text[word.start_byte : expansion.start], text[expansion.end : word.end_byte]
    if head.startswith("[") or expansion.operand.startswith("[") or len(CANDIDATE.findall(head + tail)):
        return None
    body = operand.as_assigned(expansion.operand, split=True)
    chosen = _tolerant(context.moved(expansion.start).rewrite(f"{name}=({head}{body}{tail})"), body)
    other = f"{name}=({head}{expansion.value if '-' in expansion.operator else ''}{tail})"
    return _choice(expansion, other, chosen), word.start_byte, word.end_byte, f'"${{{name}[@]}}"'


def _choice(expansion: _Expansion, other: str, chosen: str) -> str:
    yes, no = (other, chosen) if "-" in expansion.operator else (chosen, other)
    return f"if {expansion.test}; then {yes}; else {no}; fi"
