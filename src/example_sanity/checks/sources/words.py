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
    yield from _words(tree, (), strings)


def _words(node: ast.AST, around: tuple[ast.AST, ...], strings: bool) -> Iterator[Word]:
    if isinstance(node, ast.Attribute):
        yield from _dotted(node, around, strings)
        return
    if isinstance(node, ast.JoinedStr) and strings:
        yield Word(node, (), _text(node), around)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and strings:
            yield Word(node, (), node.value, around)
    else:
        yield from _own(node, around)
    # A rewrite looks two expressions outwards at most.
    outer = (node, *around[:3]) if isinstance(node, ast.expr | ast.keyword) else ()
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or (
                isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
            ):
                continue
            if field in _ANNOTATED:
                yield from _quoted(child)
            yield from _words(child, outer, strings)


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


def _dotted(node: ast.Attribute, around: tuple[ast.AST, ...], strings: bool) -> Iterator[Word]:
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.insert(0, inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name):
        yield Word(node, (inner.id, *parts), None, around)
    else:
        yield Word(node, ("", *parts), None, around)
        yield from _words(inner, (node, *around[:3]), strings)


def _quoted(annotation: ast.AST) -> Iterator[Word]:
    """The names in the quoted parts of an annotation."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value.strip(), mode="eval")
            except SyntaxError:
                continue
            for word in _words(inner, (), strings=False):
                yield word._replace(node=node, around=())


def _text(node: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
