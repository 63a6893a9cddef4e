"""Running a plan: start the launcher, follow its log, end it at the limit, judge it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from example_sanity.core.errors import UsageError
from example_sanity.smoke import imports, raylet
from example_sanity.smoke.busy import BusyWatch
from example_sanity.smoke.cause_table import RAY_NOT_UP
from example_sanity.smoke.gpumemory import MemoryWatch
from example_sanity.smoke.job import CannotStart, Follower, command_line
from example_sanity.smoke.record import Record
from example_sanity.smoke.result import SmokeResult
from example_sanity.smoke.verdict import Ending, Judgement, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from example_sanity.smoke.job import Job
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.steps import Step

_POLL_SECONDS = 0.1


class Watcher(Protocol):
    """Who is told how the run goes on."""

    def begin(self, plan: SmokePlan, job: Job) -> None:
        """Hear that the launcher was started, or handed to a cluster."""

    def step(self, step: Step) -> None:
        """Hear of an optimizer step."""

    def tick(self, seconds: float, last_line: str) -> None:
        """Hear, several times a second, how long it runs and what its last line is."""

    def end(self) -> None:
        """Hear that it has ended."""


class Silent:
    """A watcher that shows nothing."""

    def begin(self, plan: SmokePlan, job: Job) -> None:
        """Show nothing."""

    def step(self, step: Step) -> None:
        """Show nothing."""

    def tick(self, seconds: float, last_line: str) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to run.

    ``limit`` are the seconds that the launcher may take, and those that a cluster may let it wait for its turn. ``on`` is
    ``local``, ``slurm``, or the address of a Ray cluster (``ray://HOST[:PORT]``, ``http://HOST:PORT``). ``wait`` and
    ``sbatch`` (further options of sbatch) are for clusters: without ``wait`` the job is left to itself. ``grace`` are the
    seconds from SIGTERM to SIGKILL; torchrun gives its workers as long.
    """

    log: Path
    limit: float = 1800.0
    on: str = "local"
    wait: bool = True
    sbatch: tuple[str, ...] = ()
    grace: float = 15.0


def run(plan: SmokePlan, root: Path, options: Options, watcher: Watcher | None = None) -> SmokeResult:
    """Run the launcher of a plan and return what became of it.

    Where the cause is one that a second attempt may not meet (Ray did not come up), there is one, and the log of the first
    is kept beside the log as ``NAME.1``. Raises UsageError for an unknown ``on`` and a log that cannot be written.
    """
    from example_sanity.smoke.placing import starter

    start = starter(options.on)
    watcher = watcher or Silent()
    # Asked before the run, which may write what was missing.
    notes = tuple(imports.notes(plan)) if options.on == "local" else ()
    result, judgement = _attempt(plan, root, options, start, watcher)
    if judgement is not None and judgement.cause is not None and judgement.cause.retry and not result.steps:
        options.log.replace(options.log.with_name(options.log.name + ".1"))
        result, _ = _attempt(plan, root, options, start, watcher)
        result = msgspec.structs.replace(result, attempts=2)
    return msgspec.structs.replace(result, notes=notes)


def _attempt(
    plan: SmokePlan, root: Path, options: Options, start: Callable[..., Job], watcher: Watcher
) -> tuple[SmokeResult, Judgement | None]:
    _make_room(options.log)
    base = SmokeResult(
        verdict="submitted", plan=plan, where=options.on, command=command_line(plan), log=options.log
    )
    watch = MemoryWatch()
    try:
        job = start(plan, root, options)
        base = msgspec.structs.replace(base, where=job.where, job=job.number)
        if options.on != "local" and not options.wait:
            return base, None
        if options.on != "local":
            record, ending = follow(plan, job, options, watcher)
        else:
            with watch:
                record, ending = follow(plan, job, options, watcher)
    except CannotStart as problem:
        return msgspec.structs.replace(base, verdict="could-not-start", cause=problem.evidence), None
    judgement = judge(plan, record, ending)
    result = _result(base, judgement, record, ending)
    if options.on == "local":
        result = _explained(result)
    return msgspec.structs.replace(
        result, gpu_memory=watch.found, versions=_versions(plan, options)
    ), judgement


def _make_room(log: Path) -> None:
    """Make the folder of a log, and remove an older log. Raises UsageError where that cannot be done."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        log.touch()
        log.unlink()
    except OSError as error:
        raise UsageError(
            f"cannot write the log {log}: {error.strerror}; choose another place with --log"
        ) from error


def _versions(plan: SmokePlan, options: Options) -> dict[str, str]:
    from example_sanity.smoke.versions import versions

    return versions(plan) if options.on == "local" else {}


def _result(base: SmokeResult, judgement: Judgement, record: Record, ending: Ending) -> SmokeResult:
    return msgspec.structs.replace(
        base,
        verdict=judgement.verdict,
        cause=judgement.evidence,
        steps=record.steps,
        exit_status=ending.exit_status,
        seconds=round(ending.seconds, 1),
        seconds_to_first_step=_to_first_step(record),
        busy=ending.busy,
    )


def _explained(result: SmokeResult) -> SmokeResult:
    """Return the result with what Ray's own log says, where Ray did not come up."""
    cause, log = result.cause, result.log
    if cause is None or cause.kind != RAY_NOT_UP.kind or log is None:
        return result
    environment = {**os.environ, **result.plan.environment}
    return msgspec.structs.replace(result, cause=raylet.explained(cause, log, environment))


def _to_first_step(record: Record) -> float | None:
    seconds = record.steps[0].seconds if record.steps else None
    return None if seconds is None else round(seconds, 1)


def follow(plan: SmokePlan, job: Job, options: Options, watcher: Watcher) -> tuple[Record, Ending]:
    """Read the log of a job until it has ended, and end it at the limit or when the caller is interrupted.

    Raises CannotStart for a job whose turn does not come within the limit.
    """
    watcher.begin(plan, job)
    try:
        _await_turn(job, options.limit)
        return _follow(job, options, watcher)
    finally:
        watcher.end()
        if job.poll() is None:
            job.stop()


def _await_turn(job: Job, limit: float) -> None:
    until = time.monotonic() + limit
    while not job.has_begun():
        if time.monotonic() > until:
            message = f"job {job.number} of {job.where} still waits for its turn after {limit:.0f} s"
            raise CannotStart("not-scheduled", message, "ask for fewer GPUs, or give a larger --time-limit")
        time.sleep(_POLL_SECONDS)


def _follow(job: Job, options: Options, watcher: Watcher) -> tuple[Record, Ending]:
    record, follower, begin = Record(), Follower(options.log), time.monotonic()
    watch = BusyWatch(job.pid, options.limit)
    while True:
        # Asked first: what an ended job wrote is in the log when it is read next.
        status = job.poll()
        seconds = time.monotonic() - begin
        for line in follower.lines(is_last=status is not None):
            if (step := record.feed(line, seconds)) is not None:
                watcher.step(step)
        if status is not None:
            return record, Ending(status, max(seconds, 0.1))  # 0 would say that the time is not known
        watcher.tick(seconds, record.last_line)
        watch.look(seconds)
        if seconds > options.limit:
            busy = watch.found
            job.stop()
            # What it says while it dies is no sign of life, and no cause.
            return record, Ending(job.poll() or 0, seconds, is_timed_out=True, busy=busy)
        time.sleep(_POLL_SECONDS)


def read_log(plan: SmokePlan, log: Path, exit_status: int | None = None) -> SmokeResult:
    """Judge the log of a run that ended elsewhere, with its exit status where that is known. Times are not known then.

    Raises OSError.
    """
    record = Record()
    with log.open("rb"):
        for line in Follower(log).lines(is_last=True):
            record.feed(line, None)
    base = SmokeResult(verdict="submitted", plan=plan, command=command_line(plan), log=log)
    ending = Ending(exit_status, 0.0)
    return _explained(_result(base, judge(plan, record, ending), record, ending))
