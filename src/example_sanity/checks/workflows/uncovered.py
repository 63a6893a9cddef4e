"""WFL008: launchers that no job runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.workflows.coverage import has_jobs, is_launcher, reached
from example_sanity.checks.workflows.loader import WorkflowsOptions
from example_sanity.core.finding import Severity, Span
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Finding

_LAUNCHER = "examples/sft/run_qwen3_fsdp.sh"
_TEXT = "python3 train.py model=qwen3\n"
_STEP = "on: push\njobs:\n  e2e:\n    runs-on: gpu\n    steps:\n      - uses: actions/checkout@v4\n      - run: bash {}\n"


class UncoveredLauncher(Rule):
    """No job of continuous integration runs a launcher.

    A job runs it when a step starts it, when a script that a step starts does (with the variables that the step sets, through
    loops over patterns, too), when a program that a step starts names it, or when a suite lists it (``workflows.suites``).
    Launchers are the scripts below ``workflows.roots`` that start something. Nothing is said where there are no workflows.

    It is advice: few projects can afford to run all of their launchers. ``example-sanity coverage`` shows the whole table.
    """

    code = "WFL008"
    name = "uncovered-launcher"
    summary = "no job of continuous integration runs the launcher"
    severity = Severity.INFO
    subject = Subject.SCRIPT_PATH
    source = "the workflows of the repository"
    bad = (
        Example(
            _TEXT,
            _LAUNCHER,
            {".github/workflows/e2e.yml": _STEP.format("tests/run.sh"), "tests/run.sh": "ls\n"},
        ),
    )
    good = (
        Example(
            _TEXT,
            _LAUNCHER,
            {
                ".github/workflows/e2e.yml": _STEP.format("tests/run.sh"),
                "tests/run.sh": f"TP=2 bash {_LAUNCHER}\n",
            },
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file is a script that a job should run, as far as its place says."""
        return context.in_scope(path, cls._roots(context)) and has_jobs(context)

    @staticmethod
    def _roots(context: Context) -> tuple[str, ...]:
        return context.options("workflows", WorkflowsOptions).roots

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look for a way to the launcher."""
        path = cast("str", subject)
        found = reached(context)
        if path in found.ways or not is_launcher(path, context, self._roots(context)):
            return
        number = found.workflows
        jobs = f"no job of the {number} workflows" if number > 1 else "no job of the workflow"
        yield self.finding(path, Span(), f"{jobs} runs this launcher")
