"""Which launchers which jobs run: directly, through scripts that they call, or because a suite lists them."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import field
from msgspec.structs import replace

from example_sanity.checks.workflows.expressions import WORKSPACE
from example_sanity.checks.workflows.jobs import runs
from example_sanity.checks.workflows.lists import named
from example_sanity.checks.workflows.references import references
from example_sanity.checks.workflows.shelltext import Shell
from example_sanity.checks.workflows.words import is_known
from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.checks.workflows.model import Workflow
    from example_sanity.checks.workflows.references import Reference
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context

    # The references of a script in a folder with some variables.
    _Known = dict[tuple[str, str | None, tuple[tuple[str, str], ...]], tuple[Reference, ...]]

DEPTH = 5  # scripts that call scripts
_LEFT_OUT = regex(r"disabled|skip|exclude|quarantine|flaky", re.IGNORECASE)
# A word that starts a program, in command position or behind what sets its environment.
_STARTS = regex(
    r"(?m)^(?!\s*(?:#|echo\b|printf\b))[^#\n]*(?<![\w./\"'-])(?:\S*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|ray\s+job|srun|sbatch"
    r"|mpirun|uv\s+run|bash|sh)\s+[^\s#]"
)
_SHELL_FILE = regex(r"[\w.+/@-]+\.(?:sh|bash|slurm|sbatch)\b")


class Way(msgspec.Struct, frozen=True, order=True):
    """How a launcher is run. ``job`` is empty for a suite, ``through`` are the scripts between, ``knobs`` what the job sets."""

    workflow: str
    job: str
    line: int
    through: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()


class Coverage(msgspec.Struct):
    """The ways to each shell script that some job reaches, and the launchers that one should reach."""

    ways: dict[str, list[Way]] = field(default_factory=dict)
    launchers: tuple[str, ...] = ()
    workflows: int = 0

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The launchers that no job runs."""
        return tuple(path for path in self.launchers if path not in self.ways)


def has_jobs(context: Context) -> bool:
    """Whether the repository has a file of continuous integration, by its name."""
    loader = context.registry.loaders[Subject.WORKFLOW]
    return any(loader.matches(context, path) for path in context.project.all_files)


def coverage(context: Context, roots: Sequence[str]) -> Coverage:
    """Work out what the jobs of the project run, of the launchers below ``roots``."""
    launchers = tuple(path for path in context.project.files if is_launcher(path, context, roots))
    found: Coverage = context.once("workflow coverage", lambda: _reached(context))
    return replace(found, launchers=launchers)


class _Reach(msgspec.Struct):
    """The ways of one file of continuous integration, and whether it has jobs."""

    ways: dict[str, list[Way]] = field(default_factory=dict)
    has_jobs: bool = False


def _reached(context: Context) -> Coverage:
    loader = context.registry.loaders[Subject.WORKFLOW]
    found = Coverage()
    known: _Known = {}
    for path in context.project.files:
        if not loader.matches(context, path):
            continue
        # A change of one script concerns few workflows, and to follow all of them takes seconds.
        reach = context.kept(f"ways of {path}", _Reach, lambda path=path: _reach(path, context, known))  # type: ignore[misc]
        found.workflows += reach.has_jobs
        for script, ways in reach.ways.items():
            found.ways.setdefault(script, []).extend(ways)
    for ways in found.ways.values():
        ways.sort()
    return found


def _reach(path: str, context: Context, known: _Known) -> _Reach:
    found = _Reach()
    try:
        loaded = cast("Sequence[Workflow]", context.load(Subject.WORKFLOW, path))
    except Uninspectable:
        return found
    walk = _Walk(context.project, found.ways, known)
    for workflow in loaded:
        found.has_jobs = found.has_jobs or bool(workflow.jobs)
        for run in runs(workflow, context):
            for reference in run.references:
                line = run.span(reference.call, reference.word).line
                knobs = {**run.environment, **reference.call.environment}
                walk.follow(reference, Way(workflow.path, run.job.name, line), knobs)
        _note_suite(workflow, context.project, found.ways)
    return found


def _note_suite(workflow: Workflow, project: Project, ways: dict[str, list[Way]]) -> None:
    if workflow.kind != "suite" or _LEFT_OUT.search(PurePosixPath(workflow.path).name):
        return
    for listing in workflow.listings:
        for item in listing.items:
            for path in named(item.value, project):
                ways.setdefault(path, []).append(Way(workflow.path, "", item.text.span().line))


def is_launcher(path: str, context: Context, roots: Sequence[str]) -> bool:
    """Whether a file is a shell script below one of ``roots`` that starts a program, itself or through another script."""
    project = context.project
    if not project.is_shell(path) or not context.in_scope(path, roots):
        return False
    try:
        if _STARTS.search(project.text(path)):
            return True
    except Uninspectable:
        return False
    shell = _shell(path, {}, WORKSPACE, project)
    return shell is not None and any(
        item.kind in ("program", "module", "script") for item in references(shell)
    )


def _shell(path: str, environment: Mapping[str, str], folder: str | None, project: Project) -> Shell | None:
    try:
        text = project.text(path)
    except Uninspectable:
        return None
    here = f"{WORKSPACE}/{path.rpartition('/')[0]}".rstrip("/")
    return Shell(text, environment, folder, here, project.all_files)


@lru_cache(maxsize=512)
def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


@lru_cache(maxsize=512)
def _shell_files(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_SHELL_FILE.findall(text)))


class _Walk(msgspec.Struct):
    """Follows scripts into scripts; each is read once for the variables that it is given, which ``known`` remembers."""

    project: Project
    ways: dict[str, list[Way]]
    known: _Known

    def follow(self, reference: Reference, way: Way, environment: Mapping[str, str]) -> None:
        """Note the script that a reference leads to, and those behind it."""
        path = reference.place
        if (
            path is None
            or path not in self.project.all_files
            or path in way.through
            or len(way.through) > DEPTH
        ):
            return
        if not self.project.is_shell(path):
            self._mentions(path, way)
            return
        self.project.watch(f"file:{path}")
        text = (self.project.peek(path) or b"").decode("utf-8", "replace")
        names = _names(text)
        read = {name: value for name, value in environment.items() if name in names and is_known(value)}
        self._note(path, way, tuple(f"{name}={value}" for name, value in sorted(read.items())))
        onward = Way(way.workflow, way.job, way.line, (*way.through, path))
        for inner in self._inner(path, reference.call.folder, read):
            self.follow(inner, onward, {**environment, **inner.call.environment})

    def _note(self, path: str, way: Way, knobs: tuple[str, ...]) -> None:
        new = Way(way.workflow, way.job, way.line, way.through, knobs)
        if new not in self.ways.setdefault(path, []):
            self.ways[path].append(new)

    def _inner(self, path: str, folder: str | None, environment: Mapping[str, str]) -> tuple[Reference, ...]:
        key = (path, folder, tuple(sorted(environment.items())))
        if key not in self.known:
            shell = _shell(path, environment, folder, self.project)
            self.known[key] = () if shell is None else tuple(references(shell))
        return self.known[key]

    def _mentions(self, path: str, way: Way) -> None:
        """A program that a job runs, and that names scripts by their paths, runs them."""
        if not path.endswith(".py"):
            return
        try:
            text = self.project.text(path)
        except Uninspectable:
            return
        for found in _shell_files(text):
            if found in self.project.all_files:
                self._note(found, Way(way.workflow, way.job, way.line, (*way.through, path)), ())
