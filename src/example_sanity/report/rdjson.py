"""Reviewdog's diagnostic format (rdjson), with fixes as suggestions.

Source: reviewdog, ``proto/rdf``: columns count bytes of UTF-8 from 1, the end is exclusive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from example_sanity.report.json import encode
from example_sanity.report.model import is_whole_file, rule_url, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.core.finding import Finding, Span
    from example_sanity.report.model import View

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(view: View) -> str:
    """Return a DiagnosticResult."""
    diagnostics = [_diagnostic(finding, view) for finding in view.report.findings]
    return encode({"source": {"name": "example-sanity"}, "diagnostics": diagnostics})


def _diagnostic(finding: Finding, view: View) -> dict[str, Any]:
    lines = view.lines(finding.path)
    url = rule_url(finding, view)
    span = finding.span
    place = {"start": {"line": span.line}} if is_whole_file(span) else _range(span, lines)
    diagnostic = {
        "message": f"{finding.name}: {sentence(finding)}",
        "location": {"path": view.prefix + finding.path, "range": place},
        "severity": _SEVERITIES[finding.severity.value],
        "code": {"value": finding.code, **({"url": url} if url else {})},
    }
    suggestions = _suggestions(finding, lines)
    return {**diagnostic, "suggestions": suggestions} if suggestions else diagnostic


def _suggestions(finding: Finding, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The fix, where it is one edit of this file: a reviewer applies suggestions one by one, each on its own."""
    if finding.fix is None or [edit.path for edit in finding.fix.edits] != [finding.path]:
        return []
    return [{"range": _range(edit.span, lines), "text": edit.text} for edit in finding.fix.edits]


def _range(span: Span, lines: Sequence[str]) -> dict[str, Any]:
    return {
        "start": {"line": span.line, "column": _byte_column(span.line, span.column, lines)},
        "end": {"line": span.end_line, "column": _byte_column(span.end_line, span.end_column, lines)},
    }


def _byte_column(line: int, column: int, lines: Sequence[str]) -> int:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    before = text[: column - 1]
    return column + len(before.encode("utf-8", "replace")) - len(before)
