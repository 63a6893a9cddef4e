"""The part of ``smoke`` that runs: from a prepared plan to reports and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from example_sanity import delivery
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.delivery import wants_colour
from example_sanity.smoke import placing, progress, running
from example_sanity.smoke.plan import SmokePlan
from example_sanity.smoke.report import render
from example_sanity.smoke.result import SmokeResult

# 4 says that nothing was found out about the launcher.
EXIT_CODES = {
    "passed": ExitCode.CLEAN,
    "submitted": ExitCode.CLEAN,
    "failed": ExitCode.FINDINGS,
    "could-not-start": ExitCode.INTERNAL,
}


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says of running and reporting; ``time_limit`` in minutes."""

    on: str
    no_wait: bool
    sbatch: Sequence[str]
    time_limit: float
    log: Path | None
    judge: Path | None
    form: str
    reports: Sequence[tuple[str, Path]]

    def options(self, plan: SmokePlan) -> running.Options:
        """Return how to run a plan; the log is beside its files unless the call says where."""
        log = self.log or Path(plan.folder) / "logs" / f"{Path(plan.script).stem}-{plan.model_family}.log"
        return running.Options(
            log=log.absolute(),
            limit=self.time_limit * 60,
            on=self.on,
            wait=not self.no_wait,
            sbatch=tuple(self.sbatch),
        )

    def check(self) -> None:
        """Raise UsageError for what could not be done, before anything takes its time."""
        placing.starter(self.on)
        delivery.ensure_writable([path for _, path in self.reports])
        if self.no_wait and self.on == "local":
            raise UsageError("--no-wait is for a cluster; say which with --on")
        if self.sbatch and self.on != "slurm":
            raise UsageError("--sbatch-arg goes with --on slurm")


def execute(plan: SmokePlan, root: Path, call: Call) -> int:
    """Run a plan whose files are made, or judge the log that the call names. Returns the exit code; raises UsageError."""
    if call.judge is not None:
        result = running.read_log(plan, call.judge)
    else:
        result = running.run(plan, root, call.options(plan), progress.watcher())
    report(result, call)
    return EXIT_CODES[result.verdict]


def report(result: SmokeResult, call: Call) -> None:
    """Print the report, and write the further ones."""
    delivery.say(render([result], call.form, colour=wants_colour()))
    for form, path in call.reports:
        delivery.write(path, render([result], form))
