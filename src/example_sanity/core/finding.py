"""What a rule reports: one finding, with where it is, in which scenarios it holds and how to fix it."""

from __future__ import annotations

import enum
import hashlib
import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Severity(str, enum.Enum):
    """How bad a finding is. ``error``: the run cannot start, hangs, is silently wrong, or breaks a declared convention."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for error, 1 for warning, 0 for info."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]


class Span(msgspec.Struct, frozen=True, order=True):
    """A stretch of text. Lines and columns count from 1 (columns in characters); the end is exclusive."""

    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1


class Related(msgspec.Struct, frozen=True):
    """A second place that explains a finding, with a few words on why it matters."""

    path: str
    span: Span
    label: str


class Edit(msgspec.Struct, frozen=True):
    """Replace the text of ``span`` in ``path`` by ``text``."""

    path: str
    span: Span
    text: str


class Fix(msgspec.Struct, frozen=True):
    """Edits that remove a finding. ``safe`` means that the meaning of the file stays what its author wanted."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    ``path`` is relative to the project root, with forward slashes. ``scenarios`` names the scenarios in which the
    finding holds; empty means that it does not depend on one. ``source`` is the text that the fingerprint is made of.
    """

    code: str
    name: str
    message: str
    path: str
    span: Span = Span()
    severity: Severity = Severity.ERROR
    scenarios: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    fingerprint: str = ""
    suppressed_by: str | None = None

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        """Path, place, code and message: an order that never depends on timing."""
        return (self.path, self.span, self.code, self.message)


def merge_scenarios(findings: Iterable[Finding]) -> list[Finding]:
    """Make one finding of those that say the same in several scenarios, in order of first appearance.

    Findings are the same when everything but ``scenarios`` and ``related`` is equal; the related places are those of the first,
    and the scenario names keep their order.
    """
    merged: dict[Finding, dict[str, None]] = {}
    first: dict[Finding, Finding] = {}
    for finding in findings:
        bare = msgspec.structs.replace(finding, scenarios=(), related=())
        first.setdefault(bare, finding)
        merged.setdefault(bare, {}).update(dict.fromkeys(finding.scenarios))
    return [msgspec.structs.replace(first[bare], scenarios=tuple(names)) for bare, names in merged.items()]


def with_fingerprints(findings: Sequence[Finding], lines_of: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Give every finding its fingerprint: rule, path, the source line without its spacing, ordinal among equals.

    Line numbers are left out on purpose, so that a baseline survives text that moves. A finding on the file as a whole
    does not depend on what stands in the first line.
    """
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        lines = lines_of.get(finding.path, ())
        inside = finding.span != Span() and 0 < finding.span.line <= len(lines)
        line = lines[finding.span.line - 1] if inside else ""
        base = "\0".join((finding.code, finding.path, re.sub(r"\s+", " ", line.strip())))
        ordinal = seen[base] = seen.get(base, -1) + 1
        digest = hashlib.sha256(f"{base}\0{ordinal}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        result.append(msgspec.structs.replace(finding, fingerprint=digest))
    return result
