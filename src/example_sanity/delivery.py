"""From the outcome of a run to its reports: what the formats need besides the findings, and where the text goes."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

import click

from example_sanity import report
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.rule import Subject, iterate_rules
from example_sanity.report import ci
from example_sanity.report.model import View, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from example_sanity.core.finding import Severity
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Family
    from example_sanity.core.runner import Report, Run
    from example_sanity.report.model import Plan


def view(
    project: Project,
    result: Report,
    open_run: Callable[[], tuple[Run, Sequence[Family]]],
    fail_on: Severity,
    colour: bool,
) -> View:
    """Return what the formats get; whatever costs time, the run included, is worked out when a format asks for it."""
    opened = lru_cache(maxsize=1)(open_run)

    def code_families() -> Mapping[str, str]:
        return {rule.code: family.name for family, rule in iterate_rules(opened()[0].registry.families)}

    def judged() -> Mapping[str, Sequence[str]]:
        run, families = opened()
        return run.judged(families, result.files)

    def plans() -> Sequence[Plan]:
        from example_sanity.show import launch_plans

        run, _ = opened()
        scripts = [path for path in result.files if run.registry.loaders[Subject.LAUNCH].matches(run, path)]
        return launch_plans(run, scripts)

    return View(
        report=result,
        lines=lru_cache(maxsize=None)(project.lines),
        colour=colour,
        rules=lambda: opened()[0].registry.rules,
        families=code_families,
        judged=judged,
        plans=plans,
        fail_on=fail_on,
        prefix=ci.prefix(project.root),
        source=ci.source_url(os.environ),
    )


def ensure_writable(files: Sequence[Path]) -> None:
    """Raise UsageError for a file that could not be written, before the run takes its time."""
    for path in files:
        if path.is_dir():
            raise UsageError(f"cannot write the report to {path}: it is a folder")
        if not path.parent.is_dir():
            raise UsageError(f"cannot write the report to {path}: there is no folder {path.parent}")


def deliver(shown: View, form: str, output: Path | None, more: Sequence[tuple[str, Path]]) -> None:
    """Print the report, or write it to ``output`` and print the verdict on stderr; write the further ones."""
    # Rendered first: an internal error leaves the old file as it was.
    text = report.render(shown, form)
    if output is None:
        say(text)
    else:
        write(output, text)
        click.echo(verdict(shown.report), err=True)
    for other, path in more:
        write(path, report.render(shown, other))


def say(text: str) -> None:
    """Print a report. A reader that goes away (a pager, head) changes no verdict. Raises UsageError for a full disk."""
    try:
        click.echo(text, nl=False, color=True)
    except BrokenPipeError:
        silence()
    except OSError as error:
        silence()
        raise UsageError(f"cannot write the report to standard output: {error.strerror}") from error


def silence() -> None:
    """Let what is still to be printed, the interpreter's last flush included, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(path: Path, text: str) -> None:
    """Write a report into a file. Raises UsageError."""
    try:
        path.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write the report to {path}: {error.strerror}") from error


def exit_code(result: Report, threshold: Severity, allow_empty: bool) -> int:
    """Return what the outcome of a run means, and say so when nothing was inspected."""
    if result.fails(threshold):
        return ExitCode.FINDINGS
    if result.nothing_inspected and not result.notes and not allow_empty:
        click.echo(
            "Error: nothing was inspected: no file under these paths is a subject of these rules", err=True
        )
        return ExitCode.NOTHING_INSPECTED
    return ExitCode.CLEAN


def wants_colour() -> bool:
    """Return whether the environment or the terminal asks for colour."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
