"""The report for people: message, excerpt with a caret, scenarios, related places, fix."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from example_sanity.report.model import View, fix_title, is_whole_file, one_line, printable, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Finding, Span

_COLOURS = {"error": 31, "warning": 33, "info": 36, "dim": 2, "bold": 1, "fix": 32}
_WIDEST = 160


def render(view: View) -> str:
    """Return the whole report."""
    lines: list[str] = []
    for finding in view.report.findings:
        lines += [*finding_lines(finding, view), ""]
    lines += [f"note: {one_line(note)}" for note in view.report.notes]
    lines.append(verdict(view.report))
    return "\n".join(lines) + "\n"


def paint(text: str, style: str, wanted: bool) -> str:
    """Return ``text`` in a colour when colour is wanted."""
    return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if wanted else text


def finding_lines(finding: Finding, view: View) -> Iterator[str]:
    """Yield the lines of one finding."""
    place = f"{printable(finding.path)}:{finding.span.line}:{finding.span.column}"
    severity = paint(f"{finding.severity.value}[{finding.code}]", finding.severity.value, view.colour)
    yield f"{paint(place, 'bold', view.colour)}: {severity} {finding.name}: {printable(finding.message)}"
    yield from _excerpt(finding.path, finding.span, finding.severity.value, view)
    if finding.scenarios:
        yield paint(f"  = in scenario: {printable(', '.join(finding.scenarios))}", "dim", view.colour)
    for related in finding.related:
        yield paint(
            f"  = {printable(related.path)}:{related.span.line}:{related.span.column}: {printable(related.label)}",
            "dim",
            view.colour,
        )
    if finding.fix:
        yield paint(f"  = {fix_title(finding.fix)}", "fix", view.colour)


def _excerpt(path: str, span: Span, style: str, view: View) -> Iterator[str]:
    lines = view.lines(path)
    if is_whole_file(span):
        return
    if not 0 < span.line <= len(lines) or not lines[span.line - 1].strip():
        return
    # Control characters must not reach the terminal.
    raw = "".join(
        char if char.isprintable() else " " for char in lines[span.line - 1].replace("\t", "    ").rstrip()
    )
    shift = 3 * lines[span.line - 1][: span.column - 1].count("\t")
    start = min(span.column - 1 + shift, len(raw))
    end = span.end_column - 1 + shift if span.end_line == span.line else len(raw)
    offset = max(0, start - 40) if len(raw) > _WIDEST else 0
    shown = raw[offset : offset + _WIDEST]
    carets = max(1, min(_width(raw[start:end]), _WIDEST - _width(raw[offset:start])))
    gutter = len(str(span.line))
    yield paint(f"  {'':>{gutter}} |", "dim", view.colour)
    yield f"{paint(f'  {span.line} |', 'dim', view.colour)} {shown}"
    pointer = paint("^" * carets, style, view.colour)
    yield f"{paint(f'  {str():>{gutter}} |', 'dim', view.colour)} {' ' * _width(raw[offset:start])}{pointer}"


def _width(text: str) -> int:
    """The columns that a terminal needs for the text."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)
