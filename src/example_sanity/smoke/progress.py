"""What is shown on stderr while a launcher runs: a live line on a terminal, one line a step elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from example_sanity.report.model import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from example_sanity.smoke.job import Job
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.running import Watcher
    from example_sanity.smoke.steps import Step


def watcher() -> Watcher:
    """Return the watcher that suits stderr."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Live()
    return Plain()


def describe(step: Step) -> str:
    """Return "step 1: loss 6.974, grad norm 10.25 (19 s)"."""
    named = {"loss": step.loss, "grad norm": step.grad_norm, "reward": step.reward}
    parts = [f"{name} {value:.4g}" for name, value in named.items() if value is not None]
    parts += [f"{name} not finite" for name in step.non_finite]
    time = "" if step.seconds is None else f" ({step.seconds:.0f} s)"
    return f"step {step.number}: {', '.join(parts)}{time}"


def _start(plan: SmokePlan, job: Job) -> str:
    number = f" as job {job.number}" if job.number else ""
    return f"{plan.script}: started, {job.where}{number}; {plan.steps} steps are wanted"


class Plain:
    """One line for the start and for each step."""

    def begin(self, plan: SmokePlan, job: Job) -> None:
        """Say what was started."""
        self._say(_start(plan, job))

    def step(self, step: Step) -> None:
        """Say what the step gave."""
        self._say(describe(step))

    def tick(self, seconds: float, last_line: str) -> None:
        """Say nothing: a log of a job is no terminal."""

    def end(self) -> None:
        """Say nothing."""

    def _say(self, text: str) -> None:
        click.echo(text, err=True)


class Live:
    """A spinner with the time and the last line of the log; steps stay above it."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, highlight=False)
        self._status: Status | None = None

    def begin(self, plan: SmokePlan, job: Job) -> None:
        """Start the spinner."""
        self._console.print(_start(plan, job), markup=False)
        self._status = self._console.status("waits for its turn")
        self._status.start()

    def step(self, step: Step) -> None:
        """Print the step above the spinner."""
        self._console.print(describe(step), markup=False)

    def tick(self, seconds: float, last_line: str) -> None:
        """Show the time and the last line, cut to the width of the terminal."""
        from rich.text import Text

        if self._status is not None:
            text = Text(one_line(f"{seconds:5.0f} s  {last_line}"))
            text.truncate(max(20, self._console.width - 4), overflow="ellipsis")
            self._status.update(text)

    def end(self) -> None:
        """Take the spinner away."""
        if self._status is not None:
            self._status.stop()
            self._status = None
