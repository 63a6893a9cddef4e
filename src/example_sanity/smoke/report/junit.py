"""JUnit XML: one suite, one case a launcher. A launcher that could not start is an error, not a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from example_sanity.core.regex import regex
from example_sanity.smoke.report.text import render as render_text
from example_sanity.smoke.report.words import headline, rows
from example_sanity.smoke.result import SmokeResult

# What XML 1.0 cannot hold, not even as a reference.
_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"failed": "failure", "could-not-start": "error", "submitted": "skipped"}


def render(results: Sequence[SmokeResult]) -> str:
    """Return the document."""
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in _ELEMENTS}
    totals = f'tests="{len(results)}" failures="{counts["failed"]}" errors="{counts["could-not-start"]}"'
    totals += f' skipped="{counts["submitted"]}" time="{sum(result.seconds for result in results):.3f}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="example-sanity" {totals}>']
    lines.append(f'  <testsuite name="smoke" {totals}>')
    for result in results:
        lines += _case(result)
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _case(result: SmokeResult) -> Iterator[str]:
    script = _attribute(result.plan.script)
    yield (
        f'    <testcase classname="example-sanity.smoke" name={script} file={script} time="{result.seconds:.3f}">'
    )
    yield "      <properties>"
    for row in rows(result):
        yield f"        <property name={_attribute(row.name)} value={_attribute(row.value)}/>"
    yield "      </properties>"
    if (element := _ELEMENTS.get(result.verdict)) is not None:
        kind = result.cause.kind if result.cause else result.verdict
        attributes = f"type={_attribute(kind)} message={_attribute(headline(result))}"
        yield f"      <{element} {attributes}>{_text(render_text([result]))}</{element}>"
    yield "    </testcase>"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("�", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", text))
