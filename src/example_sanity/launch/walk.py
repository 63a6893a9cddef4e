"""One walk over the syntax tree that collects what a script assigns, reads, runs and stops at."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from example_sanity.launch import idioms
from example_sanity.launch.facts import Facts, RawRead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    from example_sanity.launch.source import Source
    from example_sanity.launch.words import Range

# Nodes that hold nothing to collect; "word" is looked at in arithmetic only.
_LEAVES = frozenset(
    {"raw_string", "ansi_c_string", "string_content", "number", "special_variable_name", "word"}
)


class Context(NamedTuple):
    """What encloses a node: a function, something conditional, variables known to be empty, arithmetic."""

    function: str | None = None
    conditional: bool = False
    empty: frozenset[str] = frozenset()
    arithmetic: bool = False

    def inside_branch(self) -> Context:
        """Return the context of something that may not run."""
        return self if self.conditional else self._replace(conditional=True)

    def commands(self, arithmetic: bool = False) -> Context:
        """Return the context with arithmetic switched off or on."""
        return self if self.arithmetic == arithmetic else self._replace(arithmetic=arithmetic)


class Walk:
    """Depth-first and without recursion, as nesting is the script's choice.

    Handlers collect into ``facts`` and push the nodes that the walk goes on with.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.facts = Facts(source)
        self.extra_words: dict[int, list[Range]] = {}
        self.statement_end = 0
        self.exports_all = False
        self._stack: list[tuple[Node, Context]] = []

    def run(self) -> Facts:
        """Walk the whole tree and return what was found."""
        handlers = _handlers()
        outside = Context()
        root = self.source.tree.root_node
        if root.has_error:
            self.facts.raw_errors.extend(_errors(root))
        # One top-level statement after the other, as guards have to know which one they stand in.
        for statement in root.children:
            self.statement_end = statement.end_byte
            self._stack.append((statement, outside))
            while self._stack:
                node, context = self._stack.pop()
                kind = node.type
                if kind in handlers:
                    handlers[kind](self, node, context)
                elif kind not in _LEAVES or context.arithmetic:
                    self._other(node, context)
        return self.facts

    def push(self, nodes: Iterable[Node], context: Context) -> None:
        """Go on with ``nodes``, the first one next."""
        self._stack.extend([(node, context) for node in nodes][::-1])

    def _other(self, node: Node, context: Context) -> None:
        if node.type == "word":
            self._arithmetic_word(node, context)
        else:
            self.push(node.named_children, context)

    def _arithmetic_word(self, node: Node, context: Context) -> None:
        if idioms.IDENTIFIER.fullmatch(self.bytes_of(node)):
            _handlers()["variable_name"](self, node, context)
        else:
            self.scan(idioms.ARITHMETIC_NAME, node.start_byte, node.end_byte, context)

    def bytes_of(self, node: Node) -> bytes:
        """Return the source bytes of a node."""
        return self.source.data[node.start_byte : node.end_byte]

    def text_of(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.source.text(node.start_byte, node.end_byte)

    def read(self, start: int, end: int, context: Context, operator: str = "") -> None:
        """Collect a read of the name between two offsets; a leading ``$`` is no part of it."""
        if self.source.data.startswith(b"$", start):
            start += 1
        self.facts.raw_reads.append(
            RawRead(
                self.source.text(start, end),
                start,
                end,
                defaulted=operator[-1:] in {"-", "=", "+"},
                required=operator[-1:] == "?",
                arithmetic=context.arithmetic,
                function=context.function,
            )
        )

    def scan(self, pattern: re.Pattern[bytes], start: int, end: int, context: Context) -> None:
        """Collect the names that a pattern finds in text that has no tree."""
        context = context.commands(arithmetic=pattern is idioms.ARITHMETIC_NAME)
        for found in pattern.finditer(self.source.data, start, end):
            self.read(*found.span(found.lastindex or 0), context)


def _errors(root: Node) -> Iterator[tuple[int, int]]:
    """Yield what the grammar could not place and where it made up a missing token."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_error or node.is_missing:
            yield node.start_byte, node.end_byte
        elif node.has_error:
            nodes.extend(node.children)


Handler: TypeAlias = "Callable[[Walk, Node, Context], None]"


@lru_cache(maxsize=1)
def _handlers() -> dict[str, Handler]:
    from example_sanity.launch import assignments, branches, statements, variables

    return {**variables.HANDLERS, **assignments.HANDLERS, **statements.HANDLERS, **branches.HANDLERS}
