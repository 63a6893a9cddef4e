"""The report for machines. ``"version": 1`` names the shape; within a version fields are only added."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding, Related, Span
    from example_sanity.report.model import View

VERSION = 1


def render(view: View) -> str:
    """Return the report as JSON, indented."""
    report = view.report
    data = {
        "version": VERSION,
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [_finding(f) | {"suppressed_by": f.suppressed_by} for f in report.suppressed],
        "notes": report.notes,
        "summary": {
            "inspected": report.inspected,
            "findings": dict(sorted(Counter(finding.code for finding in report.findings).items())),
            "suppressed": len(report.suppressed),
            "baselined": 0,
            "seconds": round(report.seconds, 3),
        },
    }
    return encode(data)


def encode(data: object) -> str:
    """Return data as indented JSON text; undecodable file names are escaped, never lost."""
    import json

    return json.dumps(msgspec.to_builtins(data), indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": finding.path,
        **span(finding.span),
        "scenario": list(finding.scenarios),
        "related": [_related(item) for item in finding.related],
        "fix": _fix(finding),
        "fingerprint": finding.fingerprint,
    }


def span(place: Span) -> dict[str, int]:
    """Return the four numbers of a span under the names of the contract (from 1, end exclusive)."""
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def _related(item: Related) -> dict[str, Any]:
    return {"path": item.path, **span(item.span), "label": item.label}


def _fix(finding: Finding) -> dict[str, Any] | None:
    if finding.fix is None:
        return None
    edits = [{"path": edit.path, **span(edit.span), "text": edit.text} for edit in finding.fix.edits]
    return {"title": finding.fix.title, "safe": finding.fix.safe, "edits": edits}
