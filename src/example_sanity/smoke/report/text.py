"""The report for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from example_sanity.report.model import one_line
from example_sanity.smoke.report.words import HEADS, cells, evidence_lines, headline, rows
from example_sanity.smoke.result import SmokeResult

_COLOURS = {"passed": "green", "failed": "red", "could-not-start": "yellow", "submitted": "cyan"}


def render(results: Sequence[SmokeResult], colour: bool = False) -> str:
    """Return the report."""
    return "\n".join("\n".join(_lines(result, colour)) + "\n" for result in results)


def _lines(result: SmokeResult, colour: bool) -> Iterator[str]:
    said = headline(result)
    shown = click.style(said, fg=_COLOURS[result.verdict], bold=True) if colour else said
    yield f"{result.plan.script}: {shown}"
    if result.cause is not None:
        yield from (f"  {line}" for line in evidence_lines(result))
        yield f"  try: {one_line(result.cause.advice)}"
    if result.steps:
        yield ""
        yield from (_aligned(row) for row in (HEADS, *map(cells, result.steps)))
    yield ""
    yield from (f"  {row.name}: {one_line(row.value)}" for row in rows(result))
    yield from (f"  note: {one_line(note)}" for note in (*result.plan.notes, *result.notes))


def _aligned(row: Sequence[str]) -> str:
    return "  " + "  ".join(f"{cell:>10}" for cell in row).rstrip()
