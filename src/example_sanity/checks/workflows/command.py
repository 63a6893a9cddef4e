"""The command ``coverage``: which job runs which launcher, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from example_sanity import session
from example_sanity.checks.workflows.coverage import Coverage, Way, coverage
from example_sanity.checks.workflows.loader import WorkflowsOptions
from example_sanity.core.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def show(paths: Sequence[Path], form: str, uncovered: bool, **options: Any) -> int:
    """Print the launchers below ``paths`` (default: ``workflows.roots``) and the jobs that run each. Raises UsageError.

    Returns 3 where there is no launcher.
    """
    run = session.open_run(paths, **options)
    roots = [run.project.relative(path) for path in paths]
    found = coverage(run, roots or run.options("workflows", WorkflowsOptions).roots)
    if not found.launchers:
        click.echo("Error: there is no launcher below these folders", err=True)
        return ExitCode.NOTHING_INSPECTED
    rows = found.uncovered if uncovered else found.launchers
    if form == "json":
        from example_sanity.report.json import encode

        click.echo(encode(data(found, rows)), nl=False)
    else:
        click.echo("\n".join(markdown(found, rows) if form == "markdown" else text(found, rows)))
    return ExitCode.CLEAN


def data(found: Coverage, rows: Sequence[str]) -> dict[str, Any]:
    """Return the table as plain data: each launcher with its ways, and what is covered of how many."""
    return {
        "version": 1,
        "launchers": [
            {"path": path, "jobs": [_way(way) for way in found.ways.get(path, [])]} for path in rows
        ],
        "covered": len(found.launchers) - len(found.uncovered),
        "total": len(found.launchers),
        "workflows": found.workflows,
    }


def _way(way: Way) -> dict[str, Any]:
    return {
        "workflow": way.workflow,
        "job": way.job or None,
        "line": way.line,
        "through": list(way.through),
        "knobs": dict(knob.split("=", 1) for knob in way.knobs),
    }


def text(found: Coverage, rows: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table: a launcher, then the jobs that run it."""
    for path in rows:
        ways = found.ways.get(path, [])
        yield path if ways else f"{path}: no job"
        for way in ways:
            yield f"    {_place(way)}{_details(way)}"
    if rows:
        yield ""
    yield _verdict(found)


def markdown(found: Coverage, rows: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each launcher."""
    yield "| launcher | jobs |"
    yield "|---|---|"
    for path in rows:
        ways = [f"`{_place(way)}`{_details(way)}".replace("|", "\\|") for way in found.ways.get(path, [])]
        yield f"| `{path}` | {'<br>'.join(ways) or 'none'} |"
    yield ""
    yield _verdict(found)


def _place(way: Way) -> str:
    return f"{way.workflow}:{way.line}" + (f" {way.job}" if way.job else "")


def _details(way: Way) -> str:
    through = f" through {', '.join(way.through)}" if way.through else ""
    return through + (f" with {' '.join(way.knobs)}" if way.knobs else "")


def _verdict(found: Coverage) -> str:
    total = len(found.launchers)
    covered = total - len(found.uncovered)
    jobs = "the 1 workflow" if found.workflows == 1 else f"the {found.workflows} workflows"
    return (
        f"{covered} of {total} launcher{'s' * (total != 1)} {'is' if covered == 1 else 'are'} run by {jobs}."
    )
