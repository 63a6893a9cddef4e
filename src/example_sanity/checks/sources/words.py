"""The identifiers of a syntax tree, dotted ones in one piece."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.sources.names import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANNOTATED = ("annotation", "returns")


class Word(NamedTuple):
    """A dotted name, or a string.

    ``parts`` are the parts of the name; the first is empty where the dot stands behind something that is no name.
    ``text`` is the value of a string (of an f-string, with ``{}`` for what is put in), None for a name. ``around`` are the
    expressions around the node, the innermost first.
    """

    node: ast.expr | ast.stmt | ast.alias
    parts: tuple[str, ...]
    text: str | None = None
    around: tuple[ast.AST, ...] = ()


def words(tree: ast.AST, *, strings: bool = False) -> Iterator[Word]:
    """Yield the names of a tree (used, bound, imported, passed by keyword, in quoted annotations) and maybe its strings."""
    # With a stack of its own: a sum of a thousand strings is nested deeper than Python calls.
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.Attribute):
            word, inner = _dotted(node, around)
            yield word
            if not isinstance(inner, ast.Name):
                stack.append((inner, (node, *around[:3])))
            continue
        yield from _strings(node, around) if strings else ()
        yield from _own(node, around)
        # A rewrite looks two expressions outwards at most.
        outer = (node, *around[:3]) if isinstance(node, ast.expr | ast.keyword) else ()
        stack += [(child, outer) for child in ast.iter_child_nodes(node) if not _is_piece(node, child)]
        for field in _ANNOTATED:
            yield from _quoted(getattr(node, field, None))


def _strings(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[Word]:
    if isinstance(node, ast.JoinedStr):
        yield Word(node, (), _text(node), around)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield Word(node, (), node.value, around)


def _is_piece(node: ast.AST, child: ast.AST) -> bool:
    """Whether a node is the text between the braces of an f-string, which is no string of its own."""
    return isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)


def _own(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[Word]:
    """The names that a node itself says."""
    if isinstance(node, ast.Name):
        yield Word(node, (node.id,), None, around)
    elif isinstance(node, DEFINITIONS):
        yield Word(node, (node.name,))
    elif isinstance(node, ast.arg):
        yield Word(node, (node.arg,))  # type: ignore[arg-type]  # it has a place as an expression has
    elif isinstance(node, ast.keyword) and node.arg:
        yield Word(node, (node.arg,))  # type: ignore[arg-type]
    elif isinstance(node, ast.ImportFrom):
        before = tuple(part for part in (node.module or "").split(".") if part)
        for alias in node.names:
            yield Word(alias, (*before, *alias.name.split(".")))
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield Word(alias, tuple(alias.name.split(".")))


def _dotted(node: ast.Attribute, around: tuple[ast.AST, ...]) -> tuple[Word, ast.expr]:
    """A dotted name, and what stands in front of its first dot."""
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    parts.append(inner.id if isinstance(inner, ast.Name) else "")
    return Word(node, tuple(reversed(parts)), None, around), inner


def _quoted(annotation: ast.AST | None) -> Iterator[Word]:
    """The names in the quoted parts of an annotation."""
    for node in ast.walk(annotation) if annotation else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value.strip(), mode="eval")
            except SyntaxError:
                continue
            for word in words(inner):
                yield word._replace(node=node, around=())


def _text(node: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
