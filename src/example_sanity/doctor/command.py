"""The command ``doctor``: gather, judge, and report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from example_sanity import delivery, session, show
from example_sanity.checks import pins
from example_sanity.checks.mesh.repository import Repository
from example_sanity.checks.pins import Pin
from example_sanity.core.errors import ExitCode
from example_sanity.doctor import (
    conflicts,
    environment,
    gpus,
    launching,
    modules,
    report,
    sources,
    traps,
    versions,
)
from example_sanity.doctor.environment import Environment
from example_sanity.doctor.findings import Verdict
from example_sanity.doctor.sources import Sources
from example_sanity.doctor.versions import Row
from example_sanity.launch.command import Launch
from example_sanity.launch.syntax import Script


class Diagnosis(msgspec.Struct, frozen=True):
    """All that ``doctor`` found out. ``gpus`` is a sentence on the GPUs, None without a script; ``pins`` what is asked for exactly."""

    script: Script | None
    environment: Environment
    sources: Sources
    rows: tuple[Row, ...]
    launch: Launch | None
    verdict: Verdict
    problems: tuple[str, ...] = ()
    gpus: str | None = None
    pins: tuple[Pin, ...] = ()


def doctor(script: Path | None, form: str, python: Path | None, chosen: Sequence[str], **options: Any) -> int:
    """Print what is installed against what is asked for. Returns 1 on a mismatch, or where the script could not be evaluated.

    Raises UsageError.
    """
    found = diagnose(script, python, chosen, **options)
    data = report.data(found)
    if form == "json":
        from example_sanity.report.json import encode

        click.echo(encode(data), nl=False)
    else:
        colour = delivery.wants_colour()
        click.echo("\n".join(report.text(data, colour)), color=colour)
    return ExitCode.FINDINGS if found.verdict.mismatches or found.problems else ExitCode.CLEAN


def diagnose(script: Path | None, python: Path | None, chosen: Sequence[str], **options: Any) -> Diagnosis:
    """Compare an environment with a project and a launcher of it; nothing of either is run or imported."""
    run = session.open_run([script] if script else [], **options)
    here = environment.at(python) if python else environment.running()
    syntax, launches, problems = show.evaluate(run, script) if script else (None, [], [])
    asked = sources.gather(run.project, syntax, here.distributions)
    used = sources.used_extras(asked.asked, set(launching.values(launches[:1])))
    asked = asked.hold(chosen, used)
    rows = tuple(versions.rows(asked.asked, here))
    verdict = versions.verdict(rows)
    for row in rows:
        verdict += versions.missing_of_extras(row, here)
    verdict += conflicts.conflicts(asked, here)
    names = {row.name for row in rows} | asked.own
    verdict += launching.twice(here, names)
    launch = launches[0] if launches else None
    sentence, seen = None, gpus.visible()
    verdict += traps.traps(here, seen, _folders(launch, run.project.root) if launch else ())
    if launch and launch.entries:
        for entry in launch.entries:
            verdict += launching.judge_entry(entry, launch, run.project.root, here, names)
        counted, sentence = launching.compare_gpus(launch, seen, Repository.of(run))
        verdict += counted
    pinned = tuple(pins.pins(syntax, run) if syntax else pins.around("", run))
    return Diagnosis(syntax, here, asked, rows, launch, _unique(verdict), tuple(problems), sentence, pinned)


def _folders(launch: Launch, root: Path) -> list[Path]:
    """The folders that PYTHONPATH of a launcher names, as far as they are known."""
    found = (folder.path for entry in launch.entries for folder in modules.folders(entry, launch, root))
    return [path for path in found if path]


def _unique(verdict: Verdict) -> Verdict:
    """The same without repetitions: two commands of a launcher often have the same defect."""
    return Verdict(tuple(dict.fromkeys(verdict.mismatches)), tuple(dict.fromkeys(verdict.notes)))
