"""SHL010: programs that may run only behind a guard, as the configuration says."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.shell.base import TextRule, ancestors
from example_sanity.checks.shell.options import Gate, ShellOptions
from example_sanity.core.patterns import Syntax, predicate
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from example_sanity.checks.shell.base import Text
    from example_sanity.core.finding import Finding

_COMPARISON = regex(
    r"""(!\s*)?\[\[?\s+(?:"|')?\$\{?(\w+)(?::?[-=][^}"']*)?\}?(?:"|')?\s*(==?|!=)\s*(?:"|')?([^\s"'\]]*)(?:"|')?\s*\]\]?"""
)
# { … } and ( … ) with what stands in them; ${ … } and $( … ) are something else.
_GROUP = regex(r"(?<!\$)(?:\{\s(?:\$\{[^{}]*\}|[^{}])*\}|\((?:\$\([^()]*\)|[^()])*\))")
_SUBJECT = regex(r"""["']?\$\{?(\w+)(?::?[-=][^}]*)?\}?["']?""")

_CONFIGURATION = {
    "example-sanity.toml": "[[shell.gate]]\ncommand = 'uv'\nwhen = ['DEVICE=gpu']\nreason = 'the lock file knows CUDA alone'\n"
}


class UngatedCommand(TextRule):
    """A program runs without the guard that the configuration asks for.

    ``[[shell.gate]]`` names the program and the conditions, such as ``DEVICE=gpu``. An enclosing ``if`` (its first branch
    for ``=``, its ``else`` for the opposite), a ``case`` label or the left side of ``&&`` must state each of them. Text
    that starts a program counts as well (``py_executable="uv run …"``); comments and messages do not.
    """

    code = "SHL010"
    name = "ungated-command"
    summary = "a program runs without the guard that it needs"
    source = "verl: tests/special_sanity/check_uv_gpu_only.py"
    bad = (
        Example("uv run python3 train.py\n", files=_CONFIGURATION),
        Example(
            'if [ "$DEVICE" != gpu ]; then\n    LAUNCH=(uv run python3)\nfi\n"${LAUNCH[@]}" train.py\n',
            files=_CONFIGURATION,
        ),
    )
    good = (
        Example(
            'LAUNCH=(python3)\nif [ "${DEVICE:-gpu}" = gpu ]; then\n    LAUNCH=(uv run python3)\nfi\n"${LAUNCH[@]}" train.py\n',
            files=_CONFIGURATION,
        ),
        Example("echo 'please uv run this'\npython3 train.py\n", files=_CONFIGURATION),
        Example("uv run python3 train.py\n"),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge scripts where the configuration has a gate."""
        return bool(context.options("shell", ShellOptions).gate) and super().applies(path, context)

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        for gate in context.options("shell", ShellOptions).gate:
            for start, end in _calls(text, gate.command):
                problem = _problem(text, start, gate)
                if problem:
                    yield self.finding(
                        text.script.path, text.span(start, end), f"{gate.command} {problem}: {gate.reason}"
                    )


def _problem(text: Text, start: int, gate: Gate) -> str:
    if any(predicate(pattern, Syntax.GITIGNORE)(text.script.path) for pattern in gate.never):
        return "must not be called in this script"
    stated = _stated(text.node_at(start))
    missing = [
        f"{name}{operator}{value}"
        for name, operator, value in gate.conditions
        if not any(_implies(fact, (name, operator, value)) for fact in stated)
    ]
    if not missing:
        return ""
    return f"runs without the guard {' and '.join(missing)}; put it behind an if that tests it"


def _implies(fact: tuple[str, str, str], wanted: tuple[str, str, str]) -> bool:
    if fact == wanted:
        return True
    return fact[0] == wanted[0] and fact[1] == "=" and wanted[1] == "!=" and fact[2] != wanted[2]


@lru_cache(maxsize=16)
def _pattern(command: str) -> re.Pattern[bytes]:
    name = re.escape(command).encode()
    return re.compile(
        rb"(?<![\w./$-])((?:[\w.~-]*/)*" + name + rb"x?)(?=[ \t]+(?:-\S+[ \t]+(?:[\w/.]+[ \t]+)?)*[a-z]+\b)"
    )


def _calls(text: Text, command: str) -> Iterator[tuple[int, int]]:
    """The places that call a program: a command, the beginning of an array, or a string that begins with it."""
    for match in _pattern(command).finditer(text.data):
        kind = text.kind_at(match.start(1))
        if kind in ("comment", "heredoc"):
            continue
        before = text.data[: match.start(1)].rstrip(b" \t")[-1:]
        begins = before in (b"", b"\n", b";", b"&", b"|", b"(", b"`", b"{", b"!")
        quoted = text.data[match.start(1) - 1 : match.start(1)] in (b'"', b"'")
        if (kind == "code" and (begins or _leads(text, match.start(1)))) or (
            quoted and _is_value(text, match.start(1))
        ):
            yield match.span(1)


def _leads(text: Text, start: int) -> bool:
    """Whether the word is the name of a command (``then uv run``, ``A=1 uv run``)."""
    node = text.node_at(start)
    return any(item.type == "command_name" for item in ancestors(node))


def _is_value(text: Text, start: int) -> bool:
    """Whether a string that begins here is the value of an assignment or ``key=``, and no message."""
    before = text.data[: start - 1][-1:]
    return before == b"="


def _stated(node: Node) -> list[tuple[str, str, str]]:
    """The comparisons that hold where a node runs: (name, ``=`` or ``!=``, value)."""
    facts: list[tuple[str, str, str]] = []
    child = node
    for item in ancestors(node.parent):
        if item.type == "if_statement":
            facts += _of_branch(item, child)
        elif item.type == "case_item" and item.parent is not None:
            facts += _of_case(item)
        elif item.type == "list" and child == item.named_children[-1] and _operator(item) == "&&":
            facts += _comparisons(_text(item.named_children[0]))
        child = item
    return facts


def _of_branch(item: Node, child: Node) -> list[tuple[str, str, str]]:
    conditions = item.children_by_field_name("condition")
    if child in conditions:
        return []
    stated = _comparisons(" ".join(_text(condition) for condition in conditions))
    if child.type == "else_clause" and not any(other.type == "elif_clause" for other in item.named_children):
        return (
            [(name, "=" if operator == "!=" else "!=", value) for name, operator, value in stated]
            if len(stated) == 1
            else []
        )
    return [] if child.type in ("else_clause", "elif_clause") else stated


def _of_case(item: Node) -> list[tuple[str, str, str]]:
    statement = item.parent
    value = statement.child_by_field_name("value") if statement is not None else None
    labels = item.children_by_field_name("value")
    subject = _SUBJECT.fullmatch(_text(value)) if value is not None else None
    return [(subject[1], "=", _text(labels[0]).strip("\"'"))] if subject and len(labels) == 1 else []


def _operator(item: Node) -> str:
    return next((child.type for child in item.children if not child.is_named), "")


def _comparisons(condition: str) -> list[tuple[str, str, str]]:
    """The comparisons that a condition joins by ``and``; none where it has an ``or``."""
    condition = _GROUP.sub("", condition)
    if "||" in condition or " -o " in condition:
        return []
    flipped = {"=": "!=", "!=": "="}
    found = []
    for match in _COMPARISON.finditer(condition):
        operator = "!=" if match[3] == "!=" else "="
        found.append((match[2], flipped[operator] if match[1] else operator, match[4]))
    return found


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
