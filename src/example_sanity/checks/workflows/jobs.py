"""The shell text of the steps of a workflow, with all that is known where each runs."""

from __future__ import annotations

import posixpath
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.workflows.expressions import WORKSPACE, Filled, Scope
from example_sanity.checks.workflows.references import Reference, references
from example_sanity.checks.workflows.shelltext import Call, Shell
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.checks.workflows.model import Job, Step, Workflow
    from example_sanity.core.finding import Span
    from example_sanity.core.rule import Context

_WRITTEN = regex(r"[^\n]*GITHUB_ENV[^\n]*")
_SET = regex(r"\b([A-Za-z_]\w*)=")


class Run(msgspec.Struct, frozen=True, dict=True):
    """A step that runs shell text, for one combination of its matrix (equal texts of several combinations are one).

    ``filled`` is its text without expressions, ``environment`` what the file sets, ``earlier`` the steps before it.
    """

    workflow: Workflow
    job: Job
    step: Step
    filled: Filled
    environment: Mapping[str, str]
    folder: str | None
    earlier: tuple[Step, ...]
    files: Sequence[str]

    @cached_property
    def shell(self) -> Shell:
        """The commands of the text."""
        return Shell(self.filled.text, self.environment, self.folder, files=self.files)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The files that the commands need."""
        return tuple(references(self.shell))

    def span(self, call: Call, word: int | None = None) -> Span:
        """Return where a command, or one word of it, stands in the workflow."""
        if word is None:
            return self.filled.span(call.places[0][0], call.places[-1][1])
        return self.filled.span(*call.places[min(word, len(call.places) - 1)])


@lru_cache(maxsize=1024)
def _handed_on(text: str) -> frozenset[str]:
    """The variables that a step sets for those behind it."""
    lines = _WRITTEN.findall(text) if "GITHUB_ENV" in text else ()
    return frozenset(name for line in lines for name in _SET.findall(line))


def runs(workflow: Workflow, context: Context) -> Sequence[Run]:
    """Return the runs of a workflow, worked out once."""
    cache: dict[str, Sequence[Run]] = context.cache.setdefault("workflow runs", {})
    files = context.project.all_files
    if workflow.path not in cache:
        cache[workflow.path] = tuple(_runs(workflow, files))
    return cache[workflow.path]


def _runs(workflow: Workflow, files: Sequence[str]) -> Iterator[Run]:
    for job in workflow.jobs:
        for number, step in enumerate(job.steps):
            if step.run is None:
                continue
            seen = set()
            earlier = job.steps[:number]
            for combination in job.combinations:
                run = _run(workflow, job, step, combination, earlier, files)
                key = (run.filled.text, tuple(sorted(run.environment.items())), run.folder)
                if key not in seen:
                    seen.add(key)
                    yield run


def _run(  # noqa: PLR0913, PLR0917  # what a run consists of
    workflow: Workflow,
    job: Job,
    step: Step,
    combination: Mapping[str, str | None],
    earlier: tuple[Step, ...],
    files: Sequence[str],
) -> Run:
    assert step.run is not None
    environment: dict[str, str] = {}
    for layer in (workflow.environment, job.environment, step.environment):
        scope = Scope(combination, environment, workflow.inputs)
        environment = {**environment, **{name: scope.text(value) for name, value in layer.items()}}
    # What an earlier step hands on is only known to a run.
    for before in earlier:
        for name in _handed_on(before.run.value) if before.run else ():
            environment.pop(name, None)
    scope = Scope(combination, environment, workflow.inputs)
    folder: str | None = WORKSPACE
    if step.folder is not None:
        named = scope.text(step.folder.value)
        folder = None if "$" in named else posixpath.normpath(posixpath.join(WORKSPACE, named))
    return Run(workflow, job, step, scope.fill(step.run), environment, folder, earlier, files)
