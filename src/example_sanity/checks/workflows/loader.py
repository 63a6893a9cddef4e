"""Makes the subjects of the family, and says what it may be told."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core import system
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Loaded, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from example_sanity.checks.workflows.model import Workflow
    from example_sanity.core.finding import Finding

_POSITION = regex(r"line \d+(?:, column \d+)?: ")  # in the step, which nobody counts from
_GITHUB = regex(r"\.github/workflows/[^/]+\.ya?ml|(?:.*/)?action\.ya?ml")
SUITES = ("tests/*suite*/*.txt", "tests/*suite*.txt", "tests/*disabled*.txt", ".github/*.txt", "ci/*.txt")


class WorkflowsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.workflows]``. ``roots`` and ``suites`` are relative to the root.

    ``roots`` are the folders whose launchers some job should run. ``suites`` are shell-style patterns of text files that
    list tests or launchers, one a line, for a job to run or to leave out. ``cleanup`` are commands that may fail unseen, by
    their first words.
    """

    roots: tuple[str, ...] = ("examples",)
    suites: tuple[str, ...] = SUITES
    cleanup: tuple[str, ...] = ()


class WorkflowLoader:
    """What a file of continuous integration says."""

    subject = Subject.WORKFLOW

    def matches(self, context: Context, path: str) -> bool:
        """Return whether a reader knows the file, by its name."""
        return _reader(context, path) is not None

    def load(self, context: Context, path: str) -> Loaded:
        """Return the one workflow of the file; a step that bash cannot parse is a problem. Raises Uninspectable (SYS001, SYS002)."""
        read = _reader(context, path)
        assert read is not None
        workflow = read(path, context.project.text(path))
        return Loaded((workflow,), tuple(_not_read(workflow)))


def _not_read(workflow: Workflow) -> Iterator[Finding]:
    """Yield a problem for each step whose text is no shell text: nothing can be said of what it runs."""
    from example_sanity.checks.workflows.expressions import Scope
    from example_sanity.checks.workflows.shelltext import parsed
    from example_sanity.launch.evaluator import syntax_error

    for step in (step for job in workflow.jobs for step in job.steps):
        filled = Scope().fill(step.run) if step.run is not None else None
        script = None if filled is None else parsed(filled.text)
        if filled is None or script is None or not script.errors:
            continue
        # The grammar stumbles over some valid text, so bash's own has the last word.
        if error := syntax_error(script):
            problem = f"bash cannot parse the step {step.name!r}, which is not inspected: {_POSITION.sub('', error)}"
            yield system.problem("SYS003", workflow.path, problem, filled.source.span(0, 1))


def _reader(context: Context, path: str) -> Callable[[str, str], Workflow] | None:
    """Return the function that reads a file: the one place to know a further service."""
    if path.endswith((".yml", ".yaml")):
        return _github if _GITHUB.fullmatch(path) else None
    if not path.endswith(".txt"):
        return None
    patterns = context.options("workflows", WorkflowsOptions).suites
    return _suite if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns) else None


def _github(path: str, text: str) -> Workflow:
    from example_sanity.checks.workflows import github

    return github.read(path, text)


def _suite(path: str, text: str) -> Workflow:
    from example_sanity.checks.workflows import suites

    return suites.read(path, text)
