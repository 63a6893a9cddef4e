"""WFL004: steps that run, read or install from a file which the repository does not have."""

from __future__ import annotations

import ast
import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from example_sanity.checks.workflows import lists
from example_sanity.checks.workflows.expressions import WORKSPACE
from example_sanity.checks.workflows.jobs import Run, runs
from example_sanity.checks.workflows.paths import moved_to, submodules
from example_sanity.checks.workflows.shelltext import Shell
from example_sanity.checks.workflows.words import is_known
from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from example_sanity.checks.workflows.model import Job, Step, Text, Workflow
    from example_sanity.checks.workflows.references import Reference
    from example_sanity.core.finding import Finding, Span
    from example_sanity.core.project import Project

_PATH = ".github/workflows/e2e.yml"
_FILES = {"tests/e2e/run_sft.sh": "python3 train.py\n", "tests/test_sft.py": "def test_loss(): ...\n"}
_MAKES = r"(?:>|\b(?:tee|cp|mv|ln|curl|wget|touch|tar|unzip|sed|patch|mkdir|clone|download|rsync|scp)\b)"
_OTHER_TREE = (
    "checkout",
    "switch",
    "reset",
    "merge",
    "cherry-pick",
    "apply",
    "am",
    "pull",
    "rebase",
    "worktree",
)
_GIT = regex(rf"\bgit\s+(?:-C\s+\S+\s+)?(?:{'|'.join(_OTHER_TREE)})\b")
_NOUNS = {"test": "pytest", "requirements": "pip", "source": "the shell"}


def _example(*lines: str) -> Example:
    text = "on: push\njobs:\n  e2e:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n"
    return Example(text + "".join(f"          {line}\n" for line in lines), _PATH, _FILES)


class MissingJobFile(Rule):
    """A step of a job runs a file that the repository does not have.

    Looked at are programs and scripts, however they are started, files that the shell sources, paths of pytest and the tests
    behind ``::``, modules of the repository, requirements of pip, working directories and local actions. Folders are followed
    (``working-directory``, ``cd``), and so are variables, loops and the combinations of a matrix, as far as the file says what they
    hold.

    Nothing is said where the file may be there at run time: an earlier command makes or fetches it, the job checks out another
    revision or repository, or none at all, the text asks whether it exists, or it lies in a submodule or outside the repository.
    """

    code = "WFL004"
    name = "missing-job-file"
    summary = "a step runs a file that the repository does not have"
    subject = Subject.WORKFLOW
    source = "the files of the repository"
    bad = (_example("bash tests/e2e/run_stf.sh"), _example("pytest -x tests/test_sft.py::test_los"))
    good = (_example("cd tests", "bash e2e/run_sft.sh"), _example("pytest -x tests/test_sft.py::test_loss"))

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file may have steps."""
        del context
        return path.endswith((".yml", ".yaml"))

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every step."""
        workflow = cast("Workflow", subject)
        project = context.project
        stale = [item.value for listing in workflow.listings for item in lists.stale(listing, project)]
        for run in runs(workflow, context):
            for span, message in _judge(run, stale, project):
                yield self.finding(workflow.path, span, message)
        for job in workflow.jobs:
            for used, message in _actions(job, project):
                yield self.finding(workflow.path, used.span(), message)


def _judge(run: Run, stale: Sequence[str], project: Project) -> Iterator[tuple[Span, str]]:
    """Yield place and message for what a run misses. What comes from an entry of ``stale`` is that rule's to say."""
    if not _has_repository(run):
        return
    if run.folder is not None and _is_gone(run.folder, run, project) and run.step.folder is not None:
        inside = run.folder.removeprefix(WORKSPACE + "/")
        yield run.step.folder.span(), f"the folder {inside} does not exist{_nearby(inside, project)}"
        return
    there = {reference.call.site for reference in run.references if _is_there(reference, project)}
    for reference in run.references:
        place = reference.place
        if reference.kind == "module":
            missing = _missing_module(reference, project)
            if missing:
                yield run.span(reference.call, reference.word), missing
            continue
        if place is None or any(value in reference.path for value in stale):
            continue
        if _is_there(reference, project):
            yield from _tests(run, reference, project)
        elif not (not reference.call.certain and reference.call.site in there) and _is_certain(
            place, reference, run, project
        ):
            what = f"{place} does not exist, so {_who(reference)} fails"
            yield run.span(reference.call, reference.word), what + _nearby(place, project)


def _missing_module(reference: Reference, project: Project) -> str | None:
    """Say that a package of this repository lacks a module that is to be run."""
    folder = (reference.call.folder or "").removeprefix(WORKSPACE).strip("/")
    top = reference.path.partition(".")[0]
    bases = [
        base
        for base in dict.fromkeys((folder, "", "src"))
        if f"{base}/{top}/__init__.py".lstrip("/") in project.all_files
    ]
    if not bases or not is_known(reference.path):
        return None
    inside = reference.path.replace(".", "/")
    stems = [f"{base}/{inside}".lstrip("/") for base in bases]
    if any(
        f"{stem}{end}" in project.all_files
        for stem in stems
        for end in (".py", "/__main__.py", ".pyi", ".so")
    ):
        return None
    if any(stem in project.folders for stem in stems):
        return f"{reference.path} is a package without __main__.py, so python -m {reference.path} fails"
    return f"there is no module {reference.path}, so the step fails{_nearby(f'{stems[0]}.py', project)}"


def _who(reference: Reference) -> str:
    return _NOUNS.get(reference.kind, "the step")


def _is_there(reference: Reference, project: Project) -> bool:
    place = reference.place
    if place is None or place == "" or place in project.folders or place in project.all_files:
        return place is not None
    project.watch(f"file:{place}")
    return project.holds(place)  # what git ignores, and what lies behind a link


def _is_gone(folder: str, run: Run, project: Project) -> bool:
    inside = folder.removeprefix(WORKSPACE).strip("/")
    if not folder.startswith(WORKSPACE) or inside in project.folders:
        return False
    return _may_be_ours(f"{inside}/", project) and not _is_made(inside, run)


def _is_certain(place: str, reference: Reference, run: Run, project: Project) -> bool:
    """Whether nothing makes, fetches or asks for the file before it is used."""
    folder = (reference.call.folder or WORKSPACE).removeprefix(WORKSPACE).strip("/")
    if folder not in project.folders or not _may_be_ours(place, project):
        return False
    name = re.escape(posixpath.basename(place))
    asks = re.search(rf"(?:\[|\btest|\bls|\bfind)\s[^\n]*{name}", run.filled.text)
    return not asks and "hashFiles" not in run.step.condition and not _is_made(place, run)


def _may_be_ours(place: str, project: Project) -> bool:
    """Whether a path that is not there looks as if it should be: its first folder is, or a name much like it."""
    if any(f"{place}/".startswith(f"{module}/") for module in submodules(project)):
        return False
    top, slash, _ = place.partition("/")
    return not slash or top in project.folders or moved_to(place.rstrip("/"), project) is not None


def _is_made(place: str, run: Run) -> bool:
    """Whether a command of this or an earlier step mentions the file where it may make it, or fetches its folder."""
    name, top = re.escape(posixpath.basename(place)), re.escape(place.partition("/")[0])
    made = re.compile(rf"{_MAKES}[^\n]*(?<![\w.-]){name}(?![\w.-])|\bclone\b[^\n]*\b{top}(?![\w.-])")
    texts = [run.filled.text, *(step.run.value for step in run.earlier if step.run is not None)]
    if any(made.search(line) for text in texts for line in text.split("\n")):
        return True
    return any(
        f"{place}/".startswith(f"{given.rstrip('/')}/") for step in run.earlier for given in _paths(step)
    )


def _paths(step: Step) -> Iterator[str]:
    """Folders that an action fills: what it is given as ``path``."""
    path = step.options.get("path", "").removeprefix("./")
    if step.uses is not None and path and path != ".":
        yield path


def _has_repository(run: Run) -> bool:
    """Whether the files of this revision lie in the workspace when the step runs."""
    if run.workflow.kind == "github action":
        return True
    checkouts = [
        step for step in run.earlier if step.uses is not None and "actions/checkout" in step.uses.value
    ]
    ours = [step for step in checkouts if not step.options.get("path") and not step.options.get("repository")]
    other = [step for step in checkouts if step.options.get("repository") and not step.options.get("path")]
    literal = [step for step in ours if step.options.get("ref") and "${{" not in step.options["ref"]]
    return bool(ours) and not other and not literal and not _moves(run)


def _moves(run: Run) -> bool:
    """Whether git brings other files into the workspace, in this step or an earlier one."""
    texts = [step.run.value for step in run.earlier if step.run is not None]
    return _brings_others(run.filled.text) or any(map(_brings_others, texts))


@lru_cache(maxsize=1024)
def _brings_others(text: str) -> bool:
    if not _GIT.search(text):
        return False
    return any(
        call.name == "git" and call.words[1:2] and call.words[1] in _OTHER_TREE and call.folder == WORKSPACE
        for call in Shell(text, {}).calls
    )


def _actions(job: Job, project: Project) -> Iterator[tuple[Text, str]]:
    """Yield local actions and reusable workflows that are not there, with what to say of each."""
    used: Iterable[Text | None] = (job.calls, *(step.uses for step in job.steps))
    for text in used:
        if text is None or not text.value.startswith("./") or "${{" in text.value:
            continue
        place = posixpath.normpath(text.value)
        names = ("", "/action.yml", "/action.yaml", "/Dockerfile")
        there = any(f"{place}{name}" in project.all_files for name in names)
        if not there and place.partition("/")[0] in project.folders:
            yield text, f"{place} does not exist, so the job cannot start{_nearby(place, project)}"


def _tests(run: Run, reference: Reference, project: Project) -> Iterator[tuple[Span, str]]:
    """Yield what is wrong with the names behind ``::``."""
    names = reference.path.partition("[")[0].split("::")[1:]
    place = reference.place
    if not names or place is None or not place.endswith(".py") or any("$" in name for name in names):
        return
    try:
        body: list[ast.stmt] = ast.parse(project.text(place)).body
    except (Uninspectable, SyntaxError, ValueError):
        return
    for name in names:
        found = _defined(body)
        if found is None or not name:
            return
        if name not in found:
            best = nearest(name, found, 75)
            near = f"; the nearest is {best}" if best else ""
            yield (
                run.span(reference.call, reference.word),
                f"{place} has no test {name}, so pytest fails{near}",
            )
            return
        inner = found[name]
        # What a class inherits is written elsewhere.
        if not isinstance(inner, ast.ClassDef) or inner.bases:
            return
        body = inner.body


def _defined(body: list[ast.stmt]) -> dict[str, ast.stmt] | None:
    """What a module or class defines, None where that is not all in the text."""
    found: dict[str, ast.stmt] = {}
    stack = list(body)
    while stack:
        item = stack.pop()
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[item.name] = item
        elif isinstance(item, (ast.ImportFrom, ast.Import)):
            if any(alias.name == "*" for alias in item.names):
                return None
            found.update({alias.asname or alias.name: item for alias in item.names})
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            found.update({target.id: item for target in targets if isinstance(target, ast.Name)})
        else:
            stack += [child for child in ast.iter_child_nodes(item) if isinstance(child, ast.stmt)]
    return found


def _nearby(place: str, project: Project) -> str:
    best = moved_to(place, project)
    return f"; the nearest is {best}" if best else ""
