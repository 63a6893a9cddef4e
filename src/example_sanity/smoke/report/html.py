"""One page for people. Nothing is loaded from outside, and nothing in it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from example_sanity.report import html as lint
from example_sanity.report.model import one_line
from example_sanity.smoke.report.words import HEADS, cells, evidence_lines, headline, rows
from example_sanity.smoke.result import SmokeResult

_CLASSES = {"passed": "info", "failed": "error", "could-not-start": "warning", "submitted": "info"}
_TAIL = 200
_TAIL_BYTES = 200_000


def render(results: Sequence[SmokeResult]) -> str:
    """Return the page."""
    return "\n".join(_page(results)) + "\n"


def _page(results: Sequence[SmokeResult]) -> Iterator[str]:
    style = (Path(lint.__file__).parent / "assets" / "report.css").read_text("utf-8").strip()
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Text of a log stands in the page: even a hole in the escaping could run or load nothing.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>GPU smoke runs</title>\n<style>\n{style}\n</style>\n</head>\n<body>"
    yield "<header>\n<h1>GPU smoke runs</h1>\n</header>\n<main>"
    for result in results:
        yield from _section(result)
    yield "</main>\n</body>\n</html>"


def _section(result: SmokeResult) -> Iterator[str]:
    kind = _CLASSES[result.verdict]
    yield f"<section>\n<h2><code>{_code(result.plan.script)}</code></h2>"
    yield f'<p class="{kind}">{_code(headline(result))}</p>'
    if result.cause is not None:
        if lines := evidence_lines(result):
            yield f"<pre>{chr(10).join(map(_code, lines))}</pre>"
        yield f"<p>Try: {_code(result.cause.advice)}</p>"
    if result.steps:
        yield from _table(HEADS, [cells(step) for step in result.steps])
    items = "".join(f"<dt>{row.name}</dt><dd>{_code(row.value)}</dd>" for row in rows(result))
    yield f"<dl>{items}</dl>"
    if result.plan.changes:
        changes = [(item.name, item.value, item.was or "", item.why) for item in result.plan.changes]
        yield "<details><summary>What differs from the launcher as shipped</summary>"
        yield from _table(("changed", "to", "from", "why"), changes)
        yield "</details>"
    yield from (f"<p>Note: {_code(note)}</p>" for note in (*result.plan.notes, *result.notes))
    yield from _end_of_log(result.log)
    yield "</section>"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f'<div class="wide"><table>\n<tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>'
    for line in lines:
        yield f"<tr>{''.join(f'<td>{_code(cell)}</td>' for cell in line)}</tr>"
    yield "</table></div>"


def _end_of_log(log: Path | None) -> Iterator[str]:
    if log is None or not log.is_file():
        return
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()[-_TAIL:]
    yield f"<details><summary>The last lines of the log</summary><pre>{chr(10).join(map(_code, lines))}</pre></details>"


def _code(text: str) -> str:
    return escape(one_line(text))
