"""One page for people: findings with filters, and what each launcher would run. Nothing is loaded from outside."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from example_sanity.report.model import counted, is_whole_file, one_line, printable, rule_url, tally, verdict
from example_sanity.report.plans import plan_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.core.finding import Finding, Span
    from example_sanity.report.model import View

_ASSETS = Path(__file__).parent / "assets"
_WIDEST, _MOST_LINES = 240, 8


def render(view: View) -> str:
    """Return the page. It works without its script, which only filters."""
    return "\n".join(_page(view)) + "\n"


def _page(view: View) -> Iterator[str]:
    plans = view.plans()
    script = (_ASSETS / "report.js").read_text("utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Text of a checked repository stands in the page: even a hole in the escaping could run or load nothing.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield "<title>example-sanity report</title>"
    yield f"<style>\n{(_ASSETS / 'report.css').read_text('utf-8').strip()}\n</style>"
    yield "</head>\n<body>\n<header>\n<h1>example-sanity</h1>"
    way = f' <a href="#launchers">{counted(len(plans), "launcher")}</a>' if plans else ""
    yield f'<p class="verdict">{escape(verdict(view.report))}{way}</p>\n</header>'
    yield from _filters(view)
    yield "<main>"
    yield from _findings(view)
    yield from _suppressed(view)
    if plans:
        yield '<h2 id="launchers">Launchers</h2>'
    for plan in plans:
        yield from plan_section(plan)
    yield from _notes(view)
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>"


def _filters(view: View) -> Iterator[str]:
    """The filter bar, hidden until the script is there to make it work."""
    findings = view.report.findings
    if not findings:
        return
    yield '<form id="filters" hidden>'
    severities = Counter(finding.severity.value for finding in findings)
    for severity in ("error", "warning", "info"):
        if severities[severity]:
            yield (
                f'<label><input type="checkbox" name="severity" value="{severity}" checked> '
                f'<span class="badge {severity}">{severity}</span> {severities[severity]}</label>'
            )
    yield '<label>rule <select name="code"><option value="">all</option>'
    codes = Counter((finding.code, finding.name) for finding in findings)
    for (code, name), number in sorted(codes.items()):
        yield f'<option value="{escape(code)}">{escape(code)} {escape(name)} ({number})</option>'
    yield '</select></label>\n<label>path <input type="search" name="path" placeholder="part of a path"></label>'
    yield '<output name="shown"></output>\n</form>'


def _findings(view: View) -> Iterator[str]:
    for path, group in groupby(view.report.findings, key=lambda finding: finding.path):
        findings = list(group)
        yield f'<section class="file" data-path="{escape(path)}">'
        yield f"<h2><code>{_code(path)}</code> <small>{tally(findings)}</small></h2>"
        for finding in findings:
            yield from _finding(finding, view)
        yield "</section>"


def _finding(finding: Finding, view: View) -> Iterator[str]:
    severity = finding.severity.value
    yield f'<article class="finding" data-severity="{severity}" data-code="{escape(finding.code)}">'
    yield (
        f'<h3><span class="badge {severity}">{severity}</span> {_rule(finding, view)} '
        f'<span class="place">{_place(finding, view)}</span></h3>'
    )
    yield f"<p>{escape(one_line(finding.message))}</p>"
    yield from excerpt(view.lines(finding.path), finding.span)
    yield from _details(finding)
    yield "</article>"


def _rule(finding: Finding, view: View) -> str:
    url = rule_url(finding, view)
    label = f"<b>{escape(finding.code)}</b> {escape(finding.name)}"
    return f'<a href="{escape(url)}">{label}</a>' if url else label


def _place(finding: Finding, view: View) -> str:
    label = "file" if is_whole_file(finding.span) else f"line {finding.span.line}"
    if not view.source:
        return label
    url = f"{view.source}{quote(view.prefix + finding.path, errors='replace')}#L{finding.span.line}"
    return f'<a href="{escape(url)}">{label}</a>'


def _details(finding: Finding) -> Iterator[str]:
    rows = [("scenario", ", ".join(finding.scenarios))] if finding.scenarios else []
    rows += [("related", f"{item.path}:{item.span.line}: {item.label}") for item in finding.related]
    if finding.fix:
        rows.append(("fix" if finding.fix.safe else "fix (unsafe)", finding.fix.title))
    if finding.suppressed_by is not None:
        rows.append(("suppressed by", finding.suppressed_by))
    if rows:
        cells = "".join(f"<dt>{title}</dt><dd>{escape(one_line(text))}</dd>" for title, text in rows)
        yield f"<dl>{cells}</dl>"


def excerpt(lines: Sequence[str], span: Span) -> Iterator[str]:
    """Yield the lines of a span with one more before and after, the span marked; nothing for a whole file."""
    if is_whole_file(span) or not 0 < span.line <= len(lines):
        return
    last = min(span.end_line, span.line + _MOST_LINES - 1)
    rows = []
    for number in range(max(1, span.line - 1), min(len(lines), last + 1) + 1):
        text = lines[number - 1].rstrip("\r\n")
        # The first line is marked from the column on, the last one up to it, those between as a whole.
        start = span.column - 1 if number == span.line else 0 if number > span.line else len(text)
        end = span.end_column - 1 if number == span.end_line else len(text)
        marked = span.line <= number <= span.end_line
        rows.append(
            f'<span class="number">{number:>5}</span> {_marked(text, start, end) if marked else _cut(text)}'
        )
    yield f'<pre class="excerpt">{chr(10).join(rows)}</pre>'


def _marked(text: str, start: int, end: int) -> str:
    """The text with start to end marked, a long line cut to what is around the mark."""
    first = max(0, start - _WIDEST // 4) if len(text) > _WIDEST else 0
    stop = min(end, first + _WIDEST)
    before, after = text[first:start], text[stop : first + _WIDEST]
    lead, tail = "…" if first else "", "…" if first + _WIDEST < len(text) else ""
    return f"{lead}{_code(before)}<mark>{_code(text[start:stop])}</mark>{_code(after)}{tail}"


def _cut(text: str) -> str:
    return _code(text[:_WIDEST]) + ("…" if len(text) > _WIDEST else "")


def _code(text: str) -> str:
    """Source text for the page: control characters but tabs as escapes."""
    return escape("\t".join(printable(part) for part in text.split("\t")))


def _suppressed(view: View) -> Iterator[str]:
    if not view.report.suppressed:
        return
    yield f"<details><summary>{len(view.report.suppressed)} suppressed</summary>"
    for finding in view.report.suppressed:
        yield f"<p><code>{_code(finding.path)}:{finding.span.line}</code> {_rule(finding, view)}</p>"
        yield from _details(finding)
    yield "</details>"


def _notes(view: View) -> Iterator[str]:
    if view.report.notes:
        items = "".join(f"<li>{escape(one_line(note))}</li>" for note in view.report.notes)
        yield f"<h2>Notes</h2>\n<ul>{items}</ul>"
