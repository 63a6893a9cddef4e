"""WFL008: launchers that no job runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.workflows.coverage import coverage, has_jobs
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
    subject = Subject.PROJECT
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
        """Judge projects that have workflows."""
        return super().applies(path, context) and has_jobs(context)

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look for a way to each launcher. Worked out for the whole project alone: a part of it shows no other answer."""
        roots = context.options("workflows", WorkflowsOptions).roots
        found = coverage(context, roots)
        number = found.workflows
        jobs = f"no job of the {number} workflows" if number > 1 else "no job of the workflow"
        for path in found.uncovered:
            yield self.finding(path, Span(), f"{jobs} runs this launcher")
