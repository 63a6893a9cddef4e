"""The command ``check`` and those of the families: run, fix, narrow, report."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from example_sanity import delivery, session
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.core.fixes import Plan
    from example_sanity.core.rule import Family
    from example_sanity.core.runner import Report, Run

_MOST_ROUNDS = 10
STDIN = Path("-")


@dataclass(frozen=True)
class Call:
    """What the command line asks for; the fields are its options."""

    family: str | None
    paths: Sequence[Path]
    select: Sequence[str]
    ignore: Sequence[str]
    fail_on: str | None
    form: str
    output: Path | None
    reports: Sequence[tuple[str, Path]]
    colour: bool | None
    allow_empty: bool
    root: Path | None
    config: Path | None
    preset: str | None
    environment: Mapping[str, str]
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    add_ignore: Sequence[str] = ()
    reason: str | None = None
    changed_since: str | None = None
    no_baseline: bool = False
    statistics: bool = False
    show_config: bool = False
    show_files: bool = False
    no_cache: bool = False
    allow_local_rules: bool = False
    engine: str = "bashkit"
    jobs: int = 0
    stdin_filename: Path | None = None

    def validate(self) -> None:
        """Raise UsageError for options that do not go together."""
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise UsageError("--unsafe-fixes says which fixes to use; give --fix or --diff, too")
        if sum([self.fix, self.diff, bool(self.add_ignore)]) > 1:
            raise UsageError("--fix, --diff and --add-ignore exclude each other")
        if bool(self.add_ignore) != (self.reason is not None):
            raise UsageError("--add-ignore and --reason go together: every suppression says why it is there")
        if (STDIN in self.paths) != (self.stdin_filename is not None) or (
            self.stdin_filename and len(self.paths) > 1
        ):
            raise UsageError(
                "to check standard input, give '-' as the only path and its name with --stdin-filename"
            )
        if self.stdin_filename and (self.fix or self.add_ignore):
            raise UsageError("standard input cannot be changed; --diff shows its fixes")
        if self.statistics and self.form not in ("text", "json"):
            raise UsageError(f"--statistics has no {self.form} format; it has text and json")

    @cached_property
    def stdin(self) -> bytes:
        """What stands on standard input, read once."""
        return sys.stdin.buffer.read()

    @property
    def named(self) -> Sequence[Path]:
        """The paths to look at."""
        return [self.stdin_filename] if self.stdin_filename else self.paths

    def open(self) -> tuple[Run, Sequence[Family]]:
        """Prepare a run, and tell the families that it is about. Raises UsageError."""
        name = self.stdin_filename
        run = session.open_run(
            [name.parent] if name else self.paths,
            root=self.root,
            config=self.config,
            preset=self.preset,
            environment=self.environment,
            cache=not self.no_cache and name is None,
            jobs=self.jobs,
            allow_local_rules=self.allow_local_rules,
            engine=self.engine,
        )
        if name:
            run.project.hold(run.project.relative(name), self.stdin)
        run.registry.resolve_all(self.select, "--select")
        run.registry.resolve_all(self.ignore, "--ignore")
        chosen = tuple(self.select) or run.config.select
        run.config = msgspec.structs.replace(
            run.config, select=chosen, ignore=(*run.config.ignore, *self.ignore)
        )
        if self.no_baseline:
            run.baseline = None
        families = [run.registry.family(self.family)] if self.family else run.registry.families
        return run, families


def check(call: Call) -> int:
    """Do what the call asks for. Returns the exit code; raises UsageError."""
    call.validate()
    delivery.ensure_writable([*filter(None, [call.output]), *(path for _, path in call.reports)])
    if call.show_config or call.show_files:
        return _show(call)
    if call.diff:
        return _print_diff(call)
    run, families, result = _changed(call) if call.fix or call.add_ignore else _once(call)
    if call.changed_since is not None:
        result = _narrowed(run, result, call.changed_since)
    threshold = Severity(call.fail_on) if call.fail_on else run.config.fail_on
    if call.statistics:
        delivery.say(_statistics(result, call.form))
    else:
        wanted = session.wants_colour() and call.output is None if call.colour is None else call.colour
        view = delivery.view(run, result, families, threshold, wanted)
        delivery.deliver(view, call.form, call.output, call.reports)
    return session.exit_code(result, threshold, call.allow_empty)


def _once(call: Call) -> tuple[Run, Sequence[Family], Report]:
    run, families = call.open()
    return run, families, run.check(families, call.named, session.progress())


def _show(call: Call) -> int:
    from example_sanity.report.json import encode

    run, families = call.open()
    if call.show_config:
        shown = msgspec.to_builtins(run.config)
        click.echo(encode({"root": str(run.project.root), **shown}), nl=False)
        return ExitCode.CLEAN
    scope, notes = run.survey(families, call.named)
    for path in scope.files:
        click.echo(path)
    return ExitCode.CLEAN if scope.files or notes or call.allow_empty else ExitCode.NOTHING_INSPECTED


def _changed(call: Call) -> tuple[Run, Sequence[Family], Report]:
    """Change files until nothing is left to change, and return the run over the outcome."""
    from example_sanity.core import fixes

    done: Counter[str] = Counter()
    for _ in range(_MOST_ROUNDS):
        run, families, result = _once(call)
        plan = _plan(call, run, result)
        if not plan.changes:
            break
        for change in plan.changes:
            try:
                fixes.write(run.project.root, change)
            except OSError as error:
                raise UsageError(f"cannot write {change.path}: {error.strerror}") from error
            done[change.path] += change.fixes
    else:
        run, families, result = _once(call)
        plan = _plan(call, run, result)
        if plan.changes:
            named = ", ".join(change.path for change in plan.changes)
            click.echo(f"note: still changing after {_MOST_ROUNDS} rounds: {named}", err=True)
    _tell(call, done, plan, result.baselined)
    return run, families, result


def _plan(call: Call, run: Run, result: Report) -> Plan:
    from example_sanity.core import annotating, fixes

    if not call.add_ignore:
        return fixes.plan(run, result.findings, call.unsafe_fixes)
    codes = run.registry.resolve_all(call.add_ignore, "--add-ignore")
    return annotating.plan(run, [item for item in result.findings if item.code in codes], call.reason or "")


def _tell(call: Call, done: Counter[str], plan: Plan, baselined: int) -> None:
    from example_sanity.report.model import counted

    for refusal in plan.refusals:
        click.echo(f"note: {refusal}", err=True)
    what = "suppression" if call.add_ignore else "fix"
    verb = "added" if call.add_ignore else "made"
    accepted = (
        f"{counted(baselined, 'finding')} in the baseline left alone; --no-baseline includes what it accepts"
    )
    hint = f" ({accepted})" if baselined and not done else ""
    click.echo(f"{verb} {counted(done.total(), what)} in {counted(len(done), 'file')}{hint}", err=True)


def _print_diff(call: Call) -> int:
    from example_sanity.core import fixes

    run, _, result = _once(call)
    plan = fixes.plan(run, result.findings, call.unsafe_fixes)
    for refusal in plan.refusals:
        click.echo(f"note: {refusal}", err=True)
    for change in plan.changes:
        click.echo("\n".join(fixes.diff(change)))
    return ExitCode.FINDINGS if plan.changes else ExitCode.CLEAN


def _narrowed(run: Run, result: Report, revision: str) -> Report:
    """Keep the findings on changed lines; the others count as suppressed."""
    from example_sanity.core import changes

    changed = changes.since(run.project.root, revision)
    kept = [finding for finding in result.findings if changed.touch(finding)]
    label = f"unchanged since {revision}"
    rest = [
        msgspec.structs.replace(item, suppressed_by=label) for item in result.findings if item not in kept
    ]
    suppressed = sorted([*result.suppressed, *rest], key=lambda finding: finding.sort_key)
    return msgspec.structs.replace(result, findings=tuple(kept), suppressed=tuple(suppressed))


def _statistics(result: Report, form: str) -> str:
    from example_sanity.report.json import encode
    from example_sanity.report.model import verdict

    counts = Counter((finding.code, finding.name) for finding in result.findings)
    fixable = Counter(finding.code for finding in result.findings if finding.fix and finding.fix.safe)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if form == "json":
        table = [
            {"code": code, "name": name, "count": count, "fixable": fixable[code]}
            for (code, name), count in rows
        ]
        return encode({"version": 1, "statistics": table})
    lines = [
        f"{count:6}  {code}  {name}" + (f"  ({fixable[code]} fixable)" if fixable[code] else "")
        for (code, name), count in rows
    ]
    return "\n".join([*lines, verdict(result)]) + "\n"
