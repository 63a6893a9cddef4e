"""What the rules of the family share: their options, and whether a path is among some patterns."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources.options import SourcesOptions
from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Span
from example_sanity.core.gitignore import matcher

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from example_sanity.core.rule import Context

FAMILY = "sources"


def options(context: Context) -> SourcesOptions:
    """Return the options of the family."""
    return context.options(FAMILY, SourcesOptions)


def among(path: str, patterns: tuple[str, ...], exclude: tuple[str, ...] = ()) -> bool:
    """Return whether ``patterns`` name a path and ``exclude`` does not. Raises UsageError for a broken pattern."""
    return bool(patterns) and _matcher(patterns)(path) and not (exclude and _matcher(exclude)(path))


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    try:
        return matcher(patterns)
    except ValueError as error:
        raise UsageError(f"sources: not a gitignore pattern: {error}") from error


def span_of(node: ast.expr | ast.stmt | ast.alias, lines: Sequence[str]) -> Span:
    """Return where a node stands; ast counts bytes, a span characters."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(
        node.lineno,
        column(lines[node.lineno - 1], node.col_offset),
        end_line,
        column(lines[end_line - 1], end),
    )


def column(line: str, offset: int) -> int:
    """Return the column, from 1, of a byte of a line."""
    return offset + 1 if line.isascii() else len(line.encode()[:offset].decode("utf-8", "replace")) + 1


def name_span(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: Sequence[str]) -> Span:
    """Return where the name of a definition stands."""
    line = lines[node.lineno - 1]
    start = line.find(node.name, column(line, node.col_offset) - 1 + len("def")) + 1
    return Span(node.lineno, start, node.lineno, start + len(node.name))


def among_any(paths: Sequence[str], pattern: str) -> bool:
    """Return whether a pattern names any of some paths."""
    return any(map(_matcher((pattern,)), paths))
