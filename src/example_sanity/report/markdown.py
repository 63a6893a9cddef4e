"""A summary in GitHub's Markdown, for ``$GITHUB_STEP_SUMMARY`` or a comment."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from example_sanity.report.model import (
    counted,
    fix_title,
    one_line,
    printable,
    rule_url,
    sentence,
    tally,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.core.finding import Finding
    from example_sanity.report.model import View

# GitHub refuses a summary above 1 MiB a step, and other commands of the step may have written to it.
LIMIT = 1_000_000


def render(view: View) -> str:
    """Return the verdict, a table of rules, and a collapsed table for every file, up to LIMIT bytes."""
    lines = ["## example-sanity", "", _plain(verdict(view.report)), ""]
    if view.report.findings:
        lines += [*_rules(view), ""]
    lines += _within(LIMIT - _size(lines), view)
    notes = [f"- {_plain(note)}" for note in view.report.notes]
    if notes:
        lines += ["Notes:", "", *notes, ""]
    return "\n".join(lines)


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)


def _rules(view: View) -> Iterator[str]:
    """The rules that occur, most severe first, then most frequent."""
    counts = Counter((finding.severity, finding.code, finding.name) for finding in view.report.findings)
    urls = {finding.code: rule_url(finding, view) for finding in view.report.findings}
    yield "| rule | severity | findings |"
    yield "|---|---|---:|"
    for (severity, code, name), number in sorted(
        counts.items(), key=lambda item: (-item[0][0].rank, -item[1], item[0][1])
    ):
        label = f"[{code}]({urls[code]})" if urls[code] else code
        yield f"| {label} {name} | {severity.value} | {number} |"


def _within(budget: int, view: View) -> list[str]:
    lines: list[str] = []
    left = 0
    for path, group in groupby(view.report.findings, key=lambda finding: finding.path):
        findings = list(group)
        block = list(_file(path, findings, view))
        budget -= _size(block)
        if left or budget < _size(view.report.notes) + 1000:
            left += len(findings)
        else:
            lines += block
    if left:
        lines += [f"{counted(left, 'finding')} left out here: a summary ends at 1 MiB.", ""]
    return lines


def _file(path: str, findings: Sequence[Finding], view: View) -> Iterator[str]:
    yield f"<details><summary>{_html(printable(path))}: {tally(findings)}</summary>"
    yield ""
    yield "| line | severity | rule | finding |"
    yield "|---:|---|---|---|"
    for finding in findings:
        place = str(finding.span.line)
        if view.source:
            place = f"[{place}]({view.source}{quote(view.prefix + path, errors='replace')}#L{place})"
        fix = f"<br>{_plain(fix_title(finding.fix))}" if finding.fix else ""
        yield (
            f"| {place} | {finding.severity.value} | {finding.code} {finding.name} "
            f"| {_plain(sentence(finding))}{fix} |"
        )
    yield ""
    yield "</details>"
    yield ""


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> str:
    """The text so that Markdown shows it as it is."""
    # GitHub also reads mathematics between dollar signs, of which shell text has many.
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", _html(one_line(text)))
