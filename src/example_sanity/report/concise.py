"""One line a finding, for grep and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.report.model import verdict

if TYPE_CHECKING:
    from example_sanity.report.model import View


def render(view: View) -> str:
    """Return ``path:line:column: severity CODE name: message`` for every finding, and the closing line."""
    lines = []
    for finding in view.report.findings:
        place = f"{finding.path}:{finding.span.line}:{finding.span.column}"
        scenarios = f" [{', '.join(finding.scenarios)}]" if finding.scenarios else ""
        message = " ".join(finding.message.split())
        lines.append(f"{place}: {finding.severity.value} {finding.code} {finding.name}: {message}{scenarios}")
    lines += [f"note: {note}" for note in view.report.notes]
    return "\n".join([*lines, verdict(view.report)]) + "\n"
