"""The command ``check`` and those of the families: run, fix, narrow, report."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from example_sanity import delivery
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from example_sanity.core.fixes import Plan
    from example_sanity.core.project import Project
    from example_sanity.core.replay import Replay
    from example_sanity.core.rule import Family
    from example_sanity.core.runner import Report, Run

_MOST_ROUNDS = 10
STDIN = Path("-")


class Call(msgspec.Struct, frozen=True, dict=True):
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
    keep_roots: bool = False
    allow_local_rules: bool = False
    allow_commands: bool = False
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

    def replay(self) -> Replay | None:
        """Return what may know the report already; None where it cannot, for a call that is wrong, too."""
        if self.no_cache or self.stdin_filename or self.fix or self.diff or self.add_ignore:
            return None
        from example_sanity.core.project import Project, locate
        from example_sanity.core.replay import Replay

        try:
            return Replay(
                Project(locate(self.paths, self.root, self.config)),
                self.paths,
                self.family,
                self.select,
                self.ignore,
                str(self.config.resolve()) if self.config else None,
                self.preset,
                sorted(self.environment.items()),
                self.no_baseline,
                self.allow_local_rules,
                self.allow_commands,
                self.keep_roots,
                self.engine,
            )
        except UsageError:
            return None

    def open(self, known: Project | None = None) -> tuple[Run, Sequence[Family]]:
        """Prepare a run, and tell the families that it is about. Raises UsageError."""
        from example_sanity import session

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
            allow_commands=self.allow_commands,
            engine=self.engine,
            known=known,
        )
        if name:
            run.project.hold(run.project.relative(name), self.stdin)
        run.registry.resolve_all(self.select, "--select")
        run.registry.resolve_all(self.ignore, "--ignore")
        chosen = tuple(self.select) or run.config.select or ((self.family,) if self.family else ())
        run.config = msgspec.structs.replace(
            run.config, select=chosen, ignore=(*run.config.ignore, *self.ignore)
        )
        run.keep_roots = self.keep_roots
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
    done = _changed(call) if call.fix or call.add_ignore else _checked(call)
    result = done.report
    if call.changed_since is not None:
        result = _narrowed(done.project, result, call.changed_since)
    threshold = Severity(call.fail_on) if call.fail_on else done.fail_on
    if call.statistics:
        delivery.say(_statistics(result, call.form))
    else:
        wanted = delivery.wants_colour() and call.output is None if call.colour is None else call.colour
        view = delivery.view(done.project, result, done.open, threshold, wanted)
        delivery.deliver(view, call.form, call.output, call.reports)
    return delivery.exit_code(result, threshold, call.allow_empty)


class _Done(NamedTuple):
    """What came out, of what, and how to get at the run."""

    project: Project
    report: Report
    fail_on: Severity
    open: Callable[[], tuple[Run, Sequence[Family]]]


def _checked(call: Call) -> _Done:
    """Return the report that is kept if it still holds, else that of a run."""
    replay = call.replay()
    found = replay.find() if replay else None
    if replay and found:
        return _Done(replay.project, *found, lambda: _surveyed(call))
    run, families, result = _once(call, replay.project if replay else None)
    if replay:
        replay.keep(run, result)
    return _done(run, families, result)


def _done(run: Run, families: Sequence[Family], result: Report) -> _Done:
    return _Done(run.project, result, run.config.fail_on, lambda: (run, families))


def _surveyed(call: Call) -> tuple[Run, Sequence[Family]]:
    run, families = call.open()
    run.survey(families, call.named)
    return run, families


def _once(call: Call, known: Project | None = None) -> tuple[Run, Sequence[Family], Report]:
    from example_sanity import session

    run, families = call.open(known)
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


def _changed(call: Call) -> _Done:
    """Change files until nothing is left to change, and return the outcome."""
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
    return _done(run, families, result)


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


def _narrowed(project: Project, result: Report, revision: str) -> Report:
    """Keep the findings on changed lines; the others count as suppressed."""
    from example_sanity.core import changes

    changed = changes.since(project.root, revision)
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
