"""What the rules of the family share: which scripts they judge, and what kind of text stands at a place."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, cast

from example_sanity.checks.shell.options import ShellOptions
from example_sanity.core.rule import Context, Rule, Subject
from example_sanity.launch.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node, Tree

    from example_sanity.core.finding import Finding, Span
    from example_sanity.launch.syntax import Script

_KINDS = {
    "comment": "comment",
    "heredoc_body": "heredoc",
    "heredoc_content": "heredoc",
    "raw_string": "quoted",
    "ansi_c_string": "quoted",
    "string": "quoted",
}


class ShellRule(Rule):
    """A rule of the family. One that is ``opt_in`` judges nothing unless the configuration or the call names it."""

    opt_in: ClassVar[bool] = False

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge the shell scripts under the roots of the family."""
        options = context.options("shell", ShellOptions)
        if options.also:
            options.check_also(_labels())
        if cls.opt_in and not {cls.code, cls.name} & {*options.also, *context.config.select}:
            return False
        return context.in_scope(path, options.roots)


class TextRule(ShellRule):
    """A rule that looks at the text of a script, read by the shell's own grammar."""

    subject = Subject.SCRIPT

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Judge the text of a script, laid out once for all rules."""
        script = cast("Script", subject)
        texts: dict[str, Text] = context.cache.setdefault("shell", {})
        text = texts.get(script.path)
        if text is None or text.script is not script:
            text = texts[script.path] = Text(script)
        return self._judge(text, context)

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        """Yield what is wrong with a script."""
        raise NotImplementedError


class Text:
    """A script's bytes, line by line, and what the grammar makes of each place."""

    def __init__(self, script: Script) -> None:
        """Take a parsed script."""
        self.script = script
        self.data = script.data
        self._source = Source(script.data)

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines without their ends."""
        return self.data.split(b"\n")

    @cached_property
    def starts(self) -> list[int]:
        """The byte offset at which each line begins."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    @cached_property
    def _root(self) -> Node:
        return cast("Tree", self.script.tree).root_node

    def span(self, start: int, end: int) -> Span:
        """Return the span of the bytes from ``start`` to ``end`` (exclusive)."""
        return self._source.span(start, end)

    def node_at(self, offset: int) -> Node:
        """Return the smallest node that holds a byte."""
        return self._root.descendant_for_byte_range(offset, offset + 1) or self._root

    def kind_at(self, offset: int) -> str:
        """Return what the shell takes a byte for: ``comment``, ``heredoc``, ``quoted`` or ``code``."""
        for node in ancestors(self.node_at(offset)):
            if node.type in ("command_substitution", "process_substitution"):
                return "code"
            if node.type in _KINDS:
                return _KINDS[node.type]
        return "code"


@lru_cache(maxsize=1)
def _labels() -> frozenset[str]:
    """The codes and names of the family."""
    from example_sanity.checks.shell.family import RULES

    return frozenset(label for rule in RULES for label in (rule.code, rule.name))


def ancestors(node: Node | None) -> Iterator[Node]:
    """Yield a node and all that it stands in, from the inside out."""
    while node is not None:
        yield node
        node = node.parent
