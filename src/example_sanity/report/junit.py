"""JUnit XML: one test suite a rule family, one test case a file that it judged.

A name holds no line number, so that Jenkins and GitLab follow a case through its builds. A case fails with the findings
that fail the run; milder ones stand in its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from example_sanity.core.regex import regex
from example_sanity.report.concise import line
from example_sanity.report.model import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.core.finding import Finding
    from example_sanity.report.model import View

# What XML 1.0 cannot hold, not even as a reference.
_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(view: View) -> str:
    """Return the document."""
    suites = _suites(view)
    cases = [case for suite in suites.values() for case in suite.values()]
    totals = f'tests="{len(cases)}" failures="{sum(_fails(case, view) for case in cases)}" errors="0"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="example-sanity" {totals} time="{view.report.seconds:.3f}">')
    for family, suite in suites.items():
        lines += _suite(family, suite, view)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suites(view: View) -> Mapping[str, Mapping[str, Sequence[Finding]]]:
    """The findings by family and file; a file that a family judged and found clean has an empty list."""
    suites: dict[str, dict[str, list[Finding]]] = {
        family: {path: [] for path in paths} for family, paths in view.judged().items()
    }
    families = view.families()
    for finding in view.report.findings:
        family = families.get(finding.code, "unknown")
        suites.setdefault(family, {}).setdefault(finding.path, []).append(finding)
    return {family: dict(sorted(suite.items())) for family, suite in sorted(suites.items())}


def _fails(case: Sequence[Finding], view: View) -> bool:
    return any(finding.severity.rank >= view.fail_on.rank for finding in case)


def _suite(family: str, suite: Mapping[str, Sequence[Finding]], view: View) -> Iterator[str]:
    failures = sum(_fails(case, view) for case in suite.values())
    yield f'  <testsuite name={_attribute(family)} tests="{len(suite)}" failures="{failures}" errors="0">'
    for path, findings in suite.items():
        yield from _case(family, path, findings, view)
    yield "  </testsuite>"


def _case(family: str, path: str, findings: Sequence[Finding], view: View) -> Iterator[str]:
    # Jenkins reads the part before the last dot as the package.
    names = f"classname={_attribute(f'example-sanity.{family}')} name={_attribute(path)}"
    head = f"    <testcase {names} file={_attribute(view.prefix + path)}"
    # Servers count a case without children as passed.
    if not findings:
        yield f"{head}/>"
        return
    yield f"{head}>"
    failing = [finding for finding in findings if finding.severity.rank >= view.fail_on.rank]
    if failing:
        codes = ", ".join(dict.fromkeys(finding.code for finding in failing))
        message = f"{counted(len(failing), 'finding')}: {codes}"
        yield f'      <failure type="finding" message={_attribute(message)}>{_text(failing)}</failure>'
    milder = [finding for finding in findings if finding not in failing]
    if milder:
        yield f"      <system-out>{_text(milder)}</system-out>"
    yield "    </testcase>"


def _text(findings: Sequence[Finding]) -> str:
    return escape(_NOT_XML.sub("�", "\n".join(line(finding) for finding in findings)))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", text))
