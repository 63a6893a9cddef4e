"""One line a finding, for grep and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.report.model import one_line, printable, sentence, verdict

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding
    from example_sanity.report.model import View


def render(view: View) -> str:
    """Return ``path:line:column: severity CODE name: message`` for every finding, and the closing line."""
    lines = [line(finding) for finding in view.report.findings]
    lines += [f"note: {one_line(note)}" for note in view.report.notes]
    return "\n".join([*lines, verdict(view.report)]) + "\n"


def line(finding: Finding) -> str:
    """Return the one line of a finding."""
    place = f"{printable(finding.path)}:{finding.span.line}:{finding.span.column}"
    return f"{place}: {finding.severity.value} {finding.code} {finding.name}: {sentence(finding)}"
