"""The report for machines. ``"version": 1`` names the shape; within a version fields are only added."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding, Fix, Related, Span
    from example_sanity.report.model import View

VERSION: Literal[1] = 1
Place = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]


class RelatedRow(msgspec.Struct, frozen=True):
    """A second place that explains a finding."""

    path: str
    line: Place
    column: Place
    end_line: Place
    end_column: Place
    label: str


class EditRow(msgspec.Struct, frozen=True):
    """Replace the text between the two places by ``text``."""

    path: str
    line: Place
    column: Place
    end_line: Place
    end_column: Place
    text: str


class FixRow(msgspec.Struct, frozen=True):
    """Edits that remove a finding; ``safe``: the meaning of the file stays what its author wanted."""

    title: str
    safe: bool
    edits: tuple[EditRow, ...]


class FindingRow(msgspec.Struct, frozen=True):
    """One finding. Lines and columns (characters) count from 1, the end is exclusive."""

    code: str
    name: str
    severity: Literal["error", "warning", "info"]
    message: str
    path: str
    line: Place
    column: Place
    end_line: Place
    end_column: Place
    scenario: tuple[str, ...]
    related: tuple[RelatedRow, ...]
    fix: FixRow | None
    fingerprint: str


class SuppressedRow(FindingRow, frozen=True):
    """A finding that an inline comment, the configuration or the baseline suppresses, and which of them."""

    suppressed_by: str | None


class Summary(msgspec.Struct, frozen=True):
    """Subjects that were inspected by kind, active findings by code, and the wall time in seconds."""

    inspected: dict[str, Count]
    findings: dict[str, Count]
    suppressed: Count
    baselined: Count
    seconds: Annotated[float, Meta(ge=0)]


class Document(msgspec.Struct, frozen=True):
    """The report of ``check`` and of the rule families."""

    version: Literal[1]
    findings: tuple[FindingRow, ...]
    suppressed: tuple[SuppressedRow, ...]
    notes: tuple[str, ...]
    summary: Summary


def render(view: View) -> str:
    """Return the report as JSON, indented."""
    report = view.report
    suppressed = tuple(_suppressed(finding) for finding in report.suppressed)
    summary = Summary(
        inspected=report.inspected,
        findings=dict(sorted(Counter(finding.code for finding in report.findings).items())),
        suppressed=len(report.suppressed),
        baselined=report.baselined,
        seconds=round(report.seconds, 3),
    )
    findings = tuple(_finding(finding) for finding in report.findings)
    return encode(Document(VERSION, findings, suppressed, report.notes, summary))


def encode(data: object) -> str:
    """Return data as indented JSON text; undecodable file names are escaped, never lost."""
    import json

    return json.dumps(msgspec.to_builtins(data), indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> FindingRow:
    return FindingRow(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        message=finding.message,
        path=finding.path,
        **span(finding.span),
        scenario=finding.scenarios,
        related=tuple(_related(item) for item in finding.related),
        fix=_fix(finding.fix) if finding.fix else None,
        fingerprint=finding.fingerprint,
    )


def _suppressed(finding: Finding) -> SuppressedRow:
    row = _finding(finding)
    fields = {name: getattr(row, name) for name in FindingRow.__struct_fields__}
    return SuppressedRow(**fields, suppressed_by=finding.suppressed_by)


def span(place: Span) -> dict[str, int]:
    """Return the four numbers of a span under the names of the contract (from 1, end exclusive)."""
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def _related(item: Related) -> RelatedRow:
    return RelatedRow(path=item.path, **span(item.span), label=item.label)


def _fix(fix: Fix) -> FixRow:
    edits = tuple(EditRow(path=edit.path, **span(edit.span), text=edit.text) for edit in fix.edits)
    return FixRow(fix.title, fix.safe, edits)
