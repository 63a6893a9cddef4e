"""What the commands do that bring the tool into a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from example_sanity import session
from example_sanity.core import baseline as baselines
from example_sanity.core.baseline import Baseline
from example_sanity.core.errors import ExitCode
from example_sanity.core.rule import Subject
from example_sanity.report.model import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from example_sanity.core.finding import Finding
    from example_sanity.core.runner import Report, Run


def baseline(paths: Sequence[Path], add: bool, **options: Any) -> int:
    """Write the baseline: all findings the first time, afterwards less of them, and more only when ``add`` says so."""
    run = session.open_run(paths, **options)
    name = run.config.baseline or baselines.DEFAULT
    old = baselines.load(run.project.root, name) if (run.project.root / name).exists() else None
    run.baseline = old
    result = run.check(run.registry.families, paths)
    if result.nothing_inspected and not result.notes:
        click.echo("Error: nothing was inspected, so no baseline was written", err=True)
        return ExitCode.NOTHING_INSPECTED
    fresh = _acceptable(run, result)
    new = (old or Baseline(name, {})).without(result.stale)
    if add or old is None:
        new = new.extended(fresh)
        fresh = []
    if old is None or new.triples() != old.triples():
        new.write(run.project.root)
    for line in _summary(name, old, new, fresh):
        click.echo(line)
    return ExitCode.CLEAN


def _acceptable(run: Run, result: Report) -> list[Finding]:
    """The active findings, but for those on the baseline itself."""
    rules = run.registry.rules
    return [item for item in result.findings if rules[item.code].subject is not Subject.STALE_BASELINE]


def _summary(name: str, old: Baseline | None, new: Baseline, left: Sequence[Finding]) -> list[str]:
    before, after = set(old.triples() if old else ()), set(new.triples())
    lines = []
    if before == after and old is not None:
        lines.append(f"{name} is up to date: {counted(len(after), 'finding')}")
    else:
        changes = f" ({len(after - before)} added, {len(before - after)} removed)" if old is not None else ""
        lines.append(f"wrote {name}: {counted(len(after), 'finding')}{changes}")
    if left:
        them = "it" if len(left) == 1 else "them"
        lines.append(
            f"{counted(len(left), 'new finding')} not added: fix {them}, or accept {them} with --add"
        )
    return lines
