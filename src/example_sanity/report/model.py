"""What every output format gets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from example_sanity.core.runner import Report


class View(msgspec.Struct, frozen=True):
    """A report, with the lines of the files for excerpts and whether colour is wanted."""

    report: Report
    lines: Callable[[str], Sequence[str]]
    colour: bool = False


def counted(number: int, noun: str) -> str:
    """Return "1 error", "2 errors", "3 configuration entries"."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("ch") else "s")
    return f"{number} {noun if number == 1 else plural}"


def verdict(report: Report) -> str:
    """Return the closing line: how many findings of which severity, in how much, in what time."""
    by_severity = Counter(finding.severity.value for finding in report.findings)
    parts = [counted(by_severity[name], name) for name in ("error", "warning") if by_severity[name]]
    if by_severity["info"]:
        parts.append(f"{by_severity['info']} info")
    found = f"Found {', '.join(parts)}" if parts else "No findings"
    looked = (
        ", ".join(counted(number, kind) for kind, number in report.inspected.items() if number) or "nothing"
    )
    suppressed = f", {len(report.suppressed)} suppressed" if report.suppressed else ""
    return f"{found}{suppressed} in {looked} ({report.seconds:.2f} s)."
