"""Writes an expression anew: a pattern with a hole is found in the tree, and only its own text is replaced."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.checks.sources.names import names_of
from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Edit, Fix, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.checks.sources.options import Rewrite
    from example_sanity.core.textfiles import PythonSource

HOLE = "X"


def fix(source: PythonSource, nodes: Sequence[ast.AST], rewrites: Sequence[Rewrite]) -> Fix | None:
    """Return the unsafe fix of the first of ``rewrites`` that fits the first of ``nodes`` that any fits, if any does.

    Raises UsageError for a rewrite that is no Python expression.
    """
    for node in nodes:
        for rewrite in rewrites:
            holes: dict[str, ast.expr] = {}
            if isinstance(node, ast.expr) and _fits(_expression(rewrite.find), node, holes):
                return _fix(source, node, rewrite, holes.get(HOLE))
    return None


def _fix(source: PythonSource, node: ast.expr, rewrite: Rewrite, hole: ast.expr | None) -> Fix | None:
    filling = (ast.get_source_segment(source.text, hole) or "") if hole is not None else ""
    if (ast.get_source_segment(source.text, node) or "").count("#") > filling.count("#"):
        return None  # a comment between the parts would be lost
    text = _filled(rewrite.replace, filling)
    edits = [Edit(source.path, base.span_of(node, source.lines), text)]
    if rewrite.imports and not _is_imported(source, rewrite.imports):
        line = _import_line(source.tree)
        edits.append(Edit(source.path, Span(line, 1, line, 1), f"{rewrite.imports}\n"))
    return Fix(
        f"use {_filled(rewrite.replace, '...') if hole is not None else text}", tuple(edits), safe=False
    )


def _filled(pattern: str, text: str) -> str:
    holes = [
        node for node in ast.walk(_expression(pattern)) if isinstance(node, ast.Name) and node.id == HOLE
    ]
    # From the back, so that the places in front stay right.
    for node in sorted(holes, key=lambda node: -node.col_offset):
        pattern = pattern[: node.col_offset] + text + pattern[node.end_col_offset :]
    return pattern


@lru_cache(maxsize=128)
def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise UsageError(f"sources: {text!r} is no Python expression: {error.msg}") from error


def _fits(pattern: ast.AST, node: ast.AST, holes: dict[str, ast.expr]) -> bool:
    """Whether a node is as the pattern says; what stands in its hole is put into ``holes``."""
    if isinstance(pattern, ast.Name) and pattern.id == HOLE and isinstance(node, ast.expr):
        known = holes.setdefault(HOLE, node)
        return ast.dump(known) == ast.dump(node)
    if type(pattern) is not type(node):
        return False
    return all(
        _fits_value(getattr(pattern, field), getattr(node, field), holes)
        for field in pattern._fields
        if field not in ("ctx", "kind")
    )


def _fits_value(pattern: object, value: object, holes: dict[str, ast.expr]) -> bool:
    if isinstance(pattern, ast.AST) and isinstance(value, ast.AST):
        return _fits(pattern, value, holes)
    if isinstance(pattern, list) and isinstance(value, list):
        return len(pattern) == len(value) and all(
            _fits_value(one, other, holes) for one, other in zip(pattern, value, strict=True)
        )
    return pattern == value


def _is_imported(source: PythonSource, statement: str) -> bool:
    known = names_of(source)
    for node in ast.parse(statement).body:
        for alias in getattr(node, "names", ()):
            origin = known.origins.get(alias.asname or alias.name)
            module = getattr(node, "module", None)
            if module is None and (alias.asname or alias.name) not in known.bound:
                return False
            if module is not None and (
                origin is None or (origin[0].module, origin[1]) != (module, alias.name)
            ):
                return False
    return True


def _import_line(tree: ast.Module) -> int:
    """The line in front of which a further import belongs: below those at the top, or below the docstring."""
    line = 1
    for node in tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, ast.Import | ast.ImportFrom) and not (is_docstring and line == 1):
            return line if line > 1 else node.lineno
        line = (node.end_lineno or node.lineno) + 1
    return line
