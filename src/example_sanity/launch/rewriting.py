"""What all parts of the rewriting of a script share: edits, context, and how to put text before a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import field
from msgspec.structs import replace

from example_sanity.launch.shelltree import BLOCKS, STATEMENTS

if TYPE_CHECKING:
    from tree_sitter import Node

SITE = "__es_at"  # environment variable that carries the call site of a command
PREPARE = "__es_prepare"  # builtin that rewrites a script file just before the script runs it
DIRECT = (
    "direct"  # the last word for PREPARE where the script itself is the command, and no shell that reads it
)
LIMIT = "__es_limit"  # builtin that stands for an expansion that the sandbox would silently leave out
HOISTED = "__es_h"
INTERNAL = "__es_"


class Edits(msgspec.Struct):
    """Insertions and replacements of one text; what lies inside a replaced stretch is dropped."""

    items: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, start: int, end: int, text: str) -> None:
        """Put ``text`` in place of what stands from ``start`` to ``end``; insertions at one place keep their order."""
        self.items.append((start, end, text))

    def apply(self, text: str) -> str:
        """Return the edited text."""
        parts = []
        position = 0
        for start, end, new in sorted(self.items, key=lambda item: (item[0], item[1] > item[0])):
            if start < position:
                continue
            parts += [text[position:start], new]
            position = end
        return "".join([*parts, text[position:]])


class Context(msgspec.Struct):
    """What is the same for a script and for the operands that are taken out of it."""

    origin: str
    source: str
    nounset: bool
    tags: bool
    rewriter: Callable[[str, Context], str]
    counter: list[int] = field(default_factory=lambda: [0])
    names: set[str] = field(default_factory=set)
    fixed: int | None = None  # where the operand stood that this text was moved out of

    def site(self, offset: int, command: str) -> str:
        """Return the call site of a command; that of a moved one is where it stood."""
        if self.fixed is not None:
            offset = max(self.source.find(command, self.fixed), self.fixed)
        return f"{self.origin}:{offset}"

    def rewrite(self, text: str) -> str:
        """Rewrite a text that was taken out of the script."""
        return self.rewriter(text, self)

    def fresh(self) -> str:
        """Return a variable name that the script does not use."""
        self.counter[0] += 1
        return f"{HOISTED}{self.counter[0]}"

    def moved(self, offset: int) -> Context:
        """Return the context of a text that stood at ``offset``."""
        return replace(self, fixed=self.fixed if self.fixed is not None else offset)


def put_before(text: str, statement: Node, before: str, edits: Edits) -> bool:
    """Insert ``before`` in front of the statement; in the middle of a list it needs braces."""
    node = statement
    while node.parent is not None and node.parent.type not in BLOCKS:
        parent = node.parent
        if parent.type in ("list", "pipeline") and parent.children[0] != node:
            return _wrap(text, node, before, edits)
        if parent.type not in STATEMENTS:
            return False
        node = parent
    if node.parent is None or node.parent.children[0].type == "((":
        return False
    edits.add(node.start_byte, node.start_byte, f"{before}; ")
    return True


def _wrap(text: str, node: Node, before: str, edits: Edits) -> bool:
    whole = node
    while whole.parent is not None and whole.parent.type in STATEMENTS:
        whole = whole.parent
    # the grammar hangs words and redirections next to a here-document on the wrong nodes
    if "<<" in text[whole.start_byte : whole.end_byte]:
        return False
    edits.add(node.start_byte, node.start_byte, f"{{ {before}; ")
    edits.add(node.end_byte, node.end_byte, "; }")
    return True
