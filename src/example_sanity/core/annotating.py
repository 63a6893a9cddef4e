"""Writes inline suppressions for findings that are there, where a comment changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core import suppressions
from example_sanity.core.errors import Uninspectable, UsageError
from example_sanity.core.finding import Finding, Span
from example_sanity.core.fixes import Change, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.core.comments import CommentReader
    from example_sanity.core.registry import Registry
    from example_sanity.core.runner import Run


def plan(run: Run, findings: Sequence[Finding], reason: str) -> Plan:
    """Work out the files with a suppression for each finding, and why some findings cannot have one.

    Raises UsageError for a reason that cannot stand in a comment.
    """
    if not reason.strip() or "\n" in reason or "-->" in reason:
        raise UsageError("--reason must be one line of text that says why, without '-->'")
    changes, refusals = [], []
    for path in sorted({finding.path for finding in findings}):
        group = [finding for finding in findings if finding.path == path]
        try:
            writer = _Writer(run, path, reason.strip())
        except Uninspectable as error:
            refusals.append(f"{path}: nothing added: {error.message}")
            continue
        refusals += [problem for finding in writer.ordered(group) if (problem := writer.add(finding))]
        if writer.added:
            changes.append(Change(path, writer.before, writer.text, writer.added))
    return Plan(tuple(changes), tuple(refusals))


class _Writer:
    """Adds suppressions to one file, from the last finding to the first, each checked in the text that results."""

    def __init__(self, run: Run, path: str, reason: str) -> None:
        reader = run.registry.comment_reader(run.project, path)
        if reader is None:
            raise Uninspectable("SYS002", "such a file has no comments that we know")
        if not (run.project.root / path).resolve().is_relative_to(run.project.root):
            raise Uninspectable("SYS001", "it leads out of the project")
        self._reader: CommentReader = reader
        self._registry: Registry = run.registry
        self._path = path
        self._reason = reason
        self._places: list[int] = []
        self.before = self.text = run.project.text(path)
        self.added = 0

    def ordered(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings in the order in which ``add`` wants them."""
        return sorted(findings, key=lambda finding: finding.sort_key, reverse=True)

    def add(self, finding: Finding) -> str | None:
        """Add a suppression unless there is one by now. Returns why that cannot be done."""
        line = finding.span.line + sum(place <= finding.span.line for place in self._places)
        whole = finding.span == Span()
        if self._covers(self.text, finding, line):
            return None
        for place, kind, new in self._candidates(finding, line, whole):
            grown = new.count("\n") - self.text.count("\n")
            same = self._reader.structure(new) == self._reader.structure(self.text)
            if same and self._covers(new, finding, line if whole else line + grown):
                self.text = new
                self.added += 1
                # A comment on the file goes above all that is still to come.
                self._places += [0 if kind == "ignore-file" else self._original(place)] * grown
                return None
        return f"{self._path}:{finding.span.line}: {finding.code} cannot be suppressed by a comment there"

    def _original(self, line: int) -> int:
        """The line of the file as it was, for one of the text as it is."""
        return line - sum(place < line for place in self._places)

    def _candidates(self, finding: Finding, line: int, whole: bool) -> Iterator[tuple[int, str, str]]:
        if whole:
            top = self._reader.top(self.text)
            yield top, "ignore-file", self._inserted(top, "ignore-file", finding.code)
            return
        for place in self._reader.anchors(self.text, line):
            yield place, "ignore", self._inserted(place, "ignore", finding.code)

    def _inserted(self, place: int, kind: str, code: str) -> str:
        lines = self.text.split("\n")
        end = "\r" if "\r\n" in self.text else ""
        below = lines[place - 1] if place <= len(lines) else ""
        margin = below[: len(below) - len(below.lstrip())] if below.strip() else ""
        comment = (
            f"{margin}{self._reader.opening}sanity: {kind}[{code}] {self._reason}{self._reader.closing}{end}"
        )
        new = [comment, end] if self._reader.blank_after else [comment]
        return "\n".join([*lines[: place - 1], *new, *lines[place - 1 :]])

    def _covers(self, text: str, finding: Finding, line: int) -> bool:
        span = finding.span if finding.span == Span() else Span(line, finding.span.column, line, 1 << 30)
        moved = Finding(finding.code, finding.name, finding.message, finding.path, span)
        found = suppressions.read(self._path, text, self._reader, self._registry)
        return any(item.covers_finding(moved) for item in found)
