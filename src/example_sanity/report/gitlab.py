"""GitLab's Code Quality report.

Source: docs.gitlab.com, "Code Quality", section "Code Quality report format".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from example_sanity.report.json import encode
from example_sanity.report.model import sentence

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding
    from example_sanity.report.model import View

# GitLab's blocker and critical are left to tools that know how bad a finding is for users.
_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(view: View) -> str:
    """Return a JSON array with one object a finding; an empty one for a clean run."""
    return encode([_issue(finding, view.prefix) for finding in view.report.findings])


def _issue(finding: Finding, prefix: str) -> dict[str, Any]:
    return {
        "description": f"{finding.code} {finding.name}: {sentence(finding)}",
        "check_name": finding.code,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES[finding.severity.value],
        "location": {
            "path": prefix + finding.path,
            "lines": {"begin": finding.span.line, "end": finding.span.end_line},
        },
    }
