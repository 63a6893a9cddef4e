"""What every output format gets, and the words that several of them share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.core.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from example_sanity.core.finding import Finding, Fix, Span
    from example_sanity.core.rule import Rule
    from example_sanity.core.runner import Report

# Where the page of rules is published; the links of machine formats are derived from it and from the rule.
DOCUMENTATION = "https://example-sanity.readthedocs.io/en/stable"


class Plan(msgspec.Struct, frozen=True):
    """What one launcher would run: the data of ``show``, and for every mesh in it a drawing (SVG) or None."""

    data: Mapping[str, Any]
    drawings: tuple[str | None, ...]


class View(msgspec.Struct, frozen=True):
    """A report, and what a format may need besides.

    ``lines`` gives the lines of a file, for excerpts. ``rules`` gives the rules by code, ``families`` the family of each
    code, ``judged`` the files that each family judged, ``plans`` the launch plans of the launchers among them.
    ``fail_on`` is the severity from which on a finding fails the run.
    ``prefix`` leads from the top of the checkout to the root of the project ("" or "folder/"): services want paths from
    the top. ``source`` is the URL that such a path is appended to, "" where there is none.
    """

    report: Report
    lines: Callable[[str], Sequence[str]]
    colour: bool = False
    rules: Callable[[], Mapping[str, type[Rule]]] = dict
    families: Callable[[], Mapping[str, str]] = dict
    judged: Callable[[], Mapping[str, Sequence[str]]] = dict
    plans: Callable[[], Sequence[Plan]] = tuple
    fail_on: Severity = Severity.ERROR
    prefix: str = ""
    source: str = ""


def counted(number: int, noun: str) -> str:
    """Return "1 error", "2 errors", "3 configuration entries"."""
    plural = (
        noun[:-1] + "ies"
        if noun.endswith("y")
        else noun + ("es" if noun.endswith(("ch", "sh", "x")) else "s")
    )
    return f"{number} {noun if number == 1 else plural}"


def tally(findings: Iterable[Finding]) -> str:
    """Return "2 errors, 1 warning, 1 info" for findings; empty without any."""
    by_severity = Counter(finding.severity.value for finding in findings)
    parts = [counted(by_severity[name], name) for name in ("error", "warning") if by_severity[name]]
    if by_severity["info"]:
        parts.append(f"{by_severity['info']} info")
    return ", ".join(parts)


def verdict(report: Report) -> str:
    """Return the closing line: how many findings of which severity, in how much, in what time."""
    found = tally(report.findings)
    found = f"Found {found}" if found else "No findings"
    looked = (
        ", ".join(counted(number, kind) for kind, number in report.inspected.items() if number) or "nothing"
    )
    inline = len(report.suppressed) - report.baselined
    suppressed = f", {inline} suppressed" if inline else ""
    baselined = f" ({report.baselined} in the baseline)" if report.baselined else ""
    return f"{found}{suppressed}{baselined} in {looked} ({report.seconds:.2f} s)."


def printable(text: str) -> str:
    """Return the text with control characters as escapes: a file name must not forge a line or move a cursor."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode()
        for char in text
    )


def one_line(text: str) -> str:
    """Return the text with its white space folded, printable."""
    return printable(" ".join(text.split()))


def sentence(finding: Finding) -> str:
    """Return the message and the scenarios on one line."""
    scenarios = f" [{', '.join(finding.scenarios)}]" if finding.scenarios else ""
    return one_line(finding.message + scenarios)


def fix_title(fix: Fix) -> str:
    """Return "fix: title", or "fix (unsafe): title"."""
    return f"{'fix' if fix.safe else 'fix (unsafe)'}: {one_line(fix.title)}"


def is_whole_file(span: Span) -> bool:
    """Whether a span is empty, and so stands for the file as a whole."""
    return (span.line, span.column) == (span.end_line, span.end_column)


def rule_url(finding: Finding, view: View) -> str:
    """Return where the rule of a finding is documented; "" for a rule of a plugin, which has its own pages."""
    rule = view.rules().get(finding.code)
    if rule is None or not rule.__module__.startswith("example_sanity."):
        return ""
    return f"{DOCUMENTATION}/rules.html#{rule.code.lower()}-{rule.name}"
