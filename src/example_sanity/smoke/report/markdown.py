"""A summary in GitHub's Markdown: one table for all runs, and a collapsed part for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from example_sanity.report.model import one_line
from example_sanity.smoke.report.words import HEADS, cells, evidence_lines, headline, rows, verdict
from example_sanity.smoke.result import SmokeResult


def render(results: Sequence[SmokeResult]) -> str:
    """Return the summary."""
    lines = ["## GPU smoke runs", "", "| launcher | verdict | cause | steps | first step | GPU memory |"]
    lines.append("|---|---|---|---:|---:|---:|")
    lines += [_row(result) for result in results]
    for result in results:
        lines += ["", *_details(result)]
    return "\n".join(lines) + "\n"


def _row(result: SmokeResult) -> str:
    first = "" if result.seconds_to_first_step is None else f"{result.seconds_to_first_step:.0f} s"
    memory = "" if result.gpu_memory is None else f"{result.gpu_memory.peak} MiB"
    kind = result.cause.kind if result.cause else ""
    steps = f"{len(result.steps)}/{result.plan.steps}"
    return f"| {plain(result.plan.script)} | {verdict(result)} | {kind} | {steps} | {first} | {memory} |"


def _details(result: SmokeResult) -> Iterator[str]:
    is_open = " open" if result.cause is not None else ""
    said = f"{result.plan.script}: {headline(result)}"
    yield f"<details{is_open}><summary>{_html(one_line(said))}</summary>"
    yield ""
    if result.cause is not None:
        if lines := evidence_lines(result):
            # Two spaces at the end of a line break it.
            yield "  \n".join(f"> {plain(line)}" for line in lines)
            yield ""
        yield f"Try: {plain(result.cause.advice)}"
        yield ""
    if result.steps:
        yield from _table(HEADS, [cells(step) for step in result.steps])
    if result.plan.changes:
        changes = [(item.name, item.value, item.was or "", item.why) for item in result.plan.changes]
        yield from _table(("changed", "to", "from", "why"), changes)
    yield from _table(("what", "value"), rows(result))
    if notes := (*result.plan.notes, *result.notes):
        yield from (f"- Note: {plain(note)}" for note in notes)
        yield ""
    yield "</details>"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for line in lines:
        yield f"| {' | '.join(plain(cell) for cell in line)} |"
    yield ""


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str) -> str:
    """Return the text so that Markdown shows it as it is."""
    # GitHub also reads mathematics between dollar signs.
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", _html(one_line(text)))
