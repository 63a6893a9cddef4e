"""WFL006: steps that go on, and end well, although what they run has failed."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, cast

import msgspec

from example_sanity.checks.workflows.jobs import Run, runs
from example_sanity.checks.workflows.loader import WorkflowsOptions
from example_sanity.checks.workflows.references import of_call
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.checks.workflows.model import Workflow
    from example_sanity.checks.workflows.shelltext import Call, Shell
    from example_sanity.core.finding import Finding, Span

_PATH = ".github/workflows/e2e.yml"
_FILES = {"tests/e2e/run_sft.sh": "python3 train.py\n", "tests/unit/test_a.py": "def test_a(): ...\n"}
# Programs whose exit status is what they are run for.
_CHECKERS = regex(
    r"pytest|py\.test|tox|nox|pre-commit|ruff|mypy|pyright|flake8|pylint|black|isort|ctest|shellcheck|typos|codespell"
)
_TESTERS = frozenset(
    ["pytest", "unittest", "ruff", "mypy", "black", "isort", "flake8", "pylint", "pre_commit", "doctest"]
)
_SINKS = frozenset(["tee", "ts", "cat", "grep", "egrep", "sed", "awk", "head", "tail", "less"])
_HARMLESS = regex(
    r"\s*(?:\{|\()?\s*(?:(?:true|:|(?:echo|printf)\b[^\n$;&|]*|exit\s+0)\s*(?:;|\n|$)?\s*)+(?:\}|\))?\s*"
)
_COMMITS = regex(
    r"\bgit\s+(?:-c\s+\S+\s+)*(?:commit|push)\b|create-pull-request|git-auto-commit|autofix|auto-fix"
)
_ASKED = regex(r"\$\?|PIPESTATUS")


def _example(*lines: str) -> Example:
    text = "on: push\njobs:\n  e2e:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n"
    return Example(text + "".join(f"          {line}\n" for line in lines), _PATH, _FILES)


class SwallowedFailure(Rule):
    """A step runs a test, a checker or a program of the repository, and passes whatever becomes of it.

    ``|| true`` and its like, ``continue-on-error: true``, ``set +e`` without a look at ``$?``, the left side of ``&&`` (bash -e does
    not stop there), and the left side of a pipe: without ``shell:`` GitHub calls ``bash -e``, which has **no** pipefail, so
    ``pytest | tee log`` passes. ``shell: bash`` has it. A job that is green then says nothing.

    Nothing is said of commands that run nothing of the repository (``rm``, ``docker``, ``ray stop``), of those under
    ``workflows.cleanup``, of a status that is looked at later, of jobs that commit what a checker has changed, and of a
    ``continue-on-error`` with a comment beside it or above, which says why.
    """

    code = "WFL006"
    name = "swallowed-failure"
    summary = "a step passes although what it runs has failed"
    severity = Severity.WARNING
    subject = Subject.WORKFLOW
    source = "GitHub Docs, Workflow syntax: jobs.<job_id>.steps[*].shell; Bash manual, The Set Builtin"
    bad = (_example("pytest tests/unit | tee log.txt"), _example("bash tests/e2e/run_sft.sh || true"))
    good = (_example("set -o pipefail", "pytest tests/unit | tee log.txt"), _example("ray stop || true"))

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file may have steps."""
        del context
        return path.endswith((".yml", ".yaml"))

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every step."""
        workflow = cast("Workflow", subject)
        cleanup = context.options("workflows", WorkflowsOptions).cleanup
        told: set[Span] = set()
        for run in runs(workflow, context):
            verdicts = [call for call in run.shell.calls if is_verdict(call, run.shell, cleanup)]
            if not verdicts or _commits(run):
                continue
            tolerant = run.step.tolerant or run.job.tolerant
            if tolerant in told:
                continue
            if tolerant is not None:
                told.add(tolerant)
                yield self.finding(workflow.path, tolerant, _tolerated(run, verdicts[0]))
                continue
            for span, message in _swallowed(run, verdicts):
                yield self.finding(workflow.path, span, message)


def is_verdict(call: Call, shell: Shell, cleanup: Sequence[str] = ()) -> bool:
    """Whether a command is run for its exit status: a checker, or something of the repository."""
    line = " ".join(call.words)
    if any(f"{line} ".startswith(f"{words} ") for words in cleanup):
        return False
    if _CHECKERS.fullmatch(call.name) or (call.name == "make" and re.search(r"\b(?:test|check|lint)", line)):
        return "--version" not in call.words
    for reference in of_call(call, shell):
        if reference.kind in ("program", "script", "test"):
            return reference.kind == "test" or reference.place is not None
        if reference.kind == "module":
            return reference.path in _TESTERS or _is_ours(reference.path, shell)
    return False


def _is_ours(module: str, shell: Shell) -> bool:
    """Whether a module belongs to a package of the repository."""
    stem = module.partition(".")[0]
    return any(
        f"{base}{stem}{end}" in shell.files for base in ("", "src/") for end in ("/__init__.py", ".py")
    )


def _commits(run: Run) -> bool:
    """Whether the job hands on what the step changed: then it is run for the changes, not for its status."""
    return any(
        _COMMITS.search(
            f"{step.run.value if step.run else ''} {step.uses.value if step.uses else ''} {step.name}"
        )
        for step in run.job.steps
    )


def _tolerated(run: Run, call: Call) -> str:
    where = "step" if run.step.tolerant is not None else "job"
    return f"continue-on-error lets the {where} pass when {_shown(call)} fails; drop it, or let a later step look at the outcome"


def _shown(call: Call) -> str:
    text = " ".join(call.words)
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


class _Options(msgspec.Struct):
    """The shell options that are on from an offset in bytes on."""

    starts: list[int]
    values: list[tuple[bool, bool]]  # errexit, pipefail

    def at(self, offset: int) -> tuple[bool, bool]:
        return self.values[bisect_left(self.starts, offset) - 1]


def _options(run: Run) -> _Options:
    words = run.step.shell.split()
    errexit, pipefail = _changed(words, False, False)
    found = _Options([-1], [(errexit, pipefail)])
    for site in run.shell.script.commands:
        if site.name == "set":
            errexit, pipefail = _changed([word.text for word in site.words], errexit, pipefail)
            found.starts.append(site.start)
            found.values.append((errexit, pipefail))
    return found


def _changed(words: Sequence[str], errexit: bool, pipefail: bool) -> tuple[bool, bool]:
    for at, word in enumerate(words):
        if not re.fullmatch(r"[-+][a-zA-Z]+", word):
            continue
        on = word[0] == "-"
        errexit = on if "e" in word[1:] else errexit
        if word.endswith("o") and words[at + 1 : at + 2] == ["pipefail"]:
            pipefail = on
        if word.endswith("o") and words[at + 1 : at + 2] == ["errexit"]:
            errexit = on
    return errexit, pipefail


def _swallowed(run: Run, verdicts: Sequence[Call]) -> Iterator[tuple[Span, str]]:
    """Yield place and message for each command whose failure is lost. Alternatives of one command count once."""
    options = _options(run)
    for call in {call.site: call for call in reversed(verdicts)}.values():
        node: Any = cast("Any", run.shell.script.tree).root_node.descendant_for_byte_range(
            call.site.start, call.site.end
        )
        while node is not None and node.type != "command":
            node = node.parent
        how = None if node is None or _is_captured(node) else _how(node, options.at(call.site.start), run)
        if how is not None:
            yield run.span(call), f"the step passes when {_shown(call)} fails: {how}"


def _is_captured(node: Any) -> bool:
    """Whether a command stands in ``$( )``, where it is run for what it prints."""
    while node is not None and node.type != "command_substitution":
        node = node.parent
    return node is not None


def _how(node: Any, options: tuple[bool, bool], run: Run) -> str | None:
    """Say what loses the status of a command, None where nothing does. Climbs from the command to its statement."""
    errexit, pipefail = options
    exempt = False
    while node.parent is not None:
        parent = node.parent
        kind = parent.type
        if kind == "pipeline" and parent.named_children[-1] != node:
            asked = b"PIPESTATUS" in run.shell.script.data[parent.end_byte :]
            if not pipefail and not asked and _name(parent.named_children[-1]) in _SINKS:
                return f"the pipe hands on the status of {_name(parent.named_children[-1])}; set -o pipefail, or shell: bash"
            return None
        if kind == "list" and parent.named_children[0] == node:
            operator = next(child.type for child in parent.children if child.type in ("&&", "||"))
            right = parent.named_children[-1].text.decode("utf-8", "replace")
            if operator == "||":
                found = _HARMLESS.fullmatch(right)
                return f"`|| {' '.join(right.split())}` stands in for it; drop that" if found else None
            exempt = True
        elif kind == "program":
            return _at_the_top(node, exempt, errexit, run)
        elif kind not in ("list", "pipeline", "redirected_statement", "compound_statement", "subshell"):
            return None
        node = parent
    return None


def _at_the_top(statement: Any, exempt: bool, errexit: bool, run: Run) -> str | None:
    """Say why a statement of the step may fail unseen."""
    rest = run.shell.script.data[statement.end_byte :].decode("utf-8", "replace")
    behind = [line for line in rest.split("\n") if line.strip(" ;\t") and not line.lstrip().startswith("#")]
    if not behind or _ASKED.search(rest) or (errexit and not exempt):
        return None
    if rest.lstrip().startswith("&"):
        return None
    if not errexit:
        off = (
            "set -e is off"
            if _changed(run.step.shell.split(), False, False)[0]
            else f"`{run.step.shell}` has no -e"
        )
        return f"{off}, and other commands follow; look at its status, or set -e"
    return "it stands left of &&, where set -e does not stop, and other commands follow; write it on a line of its own"


def _name(node: Any) -> str:
    """The name of the command that a part of a pipeline is."""
    while node is not None and node.type == "redirected_statement":
        node = node.named_children[0]
    return node.text.decode("utf-8", "replace").split()[0].rpartition("/")[2] if node is not None else ""
