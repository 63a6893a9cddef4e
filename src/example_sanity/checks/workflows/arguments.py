"""WFL007: steps that start something with arguments, or with variables, that it cannot take."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from example_sanity.checks.workflows.expressions import UNKNOWN, WORKSPACE
from example_sanity.checks.workflows.jobs import Run, runs
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Related, Severity, Span
from example_sanity.core.rule import Context, Example, Rule, Subject
from example_sanity.launch import inputs
from example_sanity.launch.scenario import Answer, Scenario
from example_sanity.launch.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from example_sanity.checks.workflows.model import Workflow
    from example_sanity.core.finding import Finding
    from example_sanity.launch.command import Entry, Launch
    from example_sanity.launch.syntax import Script

FAMILIES = ("overrides", "flags", "mesh", "batch")
# They judge a launcher's own guard, whatever it is started with.
_OF_GUARDS = frozenset(["MSH003", "MSH004", "MSH005"])
_RUNNER = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_WORKSPACE": "",
    "GITHUB_ENV": "/tmp/github-env",
    "GITHUB_OUTPUT": "/tmp/github-output",
    "GITHUB_PATH": "/tmp/github-path",
    "GITHUB_STEP_SUMMARY": "/tmp/github-summary",
    "RUNNER_TEMP": "/tmp/runner",
}
_PATH = ".github/workflows/e2e.yml"
_PROGRAM = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--lr", type=float)\nparser.add_argument("--steps", type=int)\nargs = parser.parse_args()\n'
)
_FILES = {"train.py": _PROGRAM, "tests/run.sh": 'python3 train.py --steps "${STEPS:-10}" "$@"\n'}


def _example(*lines: str) -> Example:
    text = "on: push\njobs:\n  e2e:\n    runs-on: gpu\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n"
    return Example(text + "".join(f"          {line}\n" for line in lines), _PATH, _FILES)


class WrongJobArguments(Rule):
    """A step starts a program or a launcher with arguments or variables that it cannot take.

    The text of the step is evaluated like a launcher, with the environment of its workflow, job and step, for each combination
    of the matrix, and followed into the scripts that it calls. What the rules of ``overrides``, ``flags``, ``mesh`` and ``batch``
    then say is said here, with their code; what they say of a called script anyway is left to them. Where a value comes from an
    expression that only a run knows, nothing is said.
    """

    code = "WFL007"
    name = "wrong-job-arguments"
    summary = "a step starts something with arguments or variables that it cannot take"
    subject = Subject.WORKFLOW
    source = "the rules of the families overrides, flags, mesh and batch"
    bad = (
        _example("python3 train.py --lrate 1e-5"),
        _example("STEPS=2 bash tests/run.sh --epochs 1"),
        _example("STEPS=few bash tests/run.sh"),
    )
    good = (_example("STEPS=2 bash tests/run.sh --lr ${{ inputs.lr }}"),)

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file may have steps."""
        del context
        return path.endswith((".yml", ".yaml"))

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Evaluate each step that starts something."""
        workflow = cast("Workflow", subject)
        for run in runs(workflow, context):
            foreign = [
                run.span(item.call)
                for item in run.references
                if item.kind == "program" and item.place is None
            ]
            for found in _judged(run, context) if _starts_something(run) else ():
                told = self._told(run, found)
                # A program outside the repository may have the name of one inside.
                if not any(place.line <= told.span.line <= place.end_line for place in foreign):
                    yield told

    def _told(self, run: Run, found: _Found) -> Finding:
        """Say at the step what a rule says of its launch."""
        finding = found.finding
        message = f"{finding.message} ({finding.code} {finding.name})"
        if finding.path == found.launch.script.path:
            return self.finding(
                run.workflow.path, found.place(finding.span), message, severity=finding.severity
            )
        return self.finding(
            run.workflow.path,
            found.call(finding.path),
            f"started like this, {finding.path} fails: {message}",
            severity=finding.severity,
            related=(Related(finding.path, finding.span, "here"),),
        )


class _Found:
    """A finding on the launch of a step, and the way from the launch to the workflow."""

    def __init__(self, run: Run, launch: Launch, finding: Finding, before: int) -> None:
        self.launch = launch
        self.finding = finding
        self._run = run
        self._before = before

    def place(self, span: Span) -> Span:
        """Return where a place in the evaluated text stands in the workflow."""
        starts = [0]
        for line in self.launch.script.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        first = starts[span.line - 1] + span.column - 1 - self._before
        last = starts[span.end_line - 1] + span.end_column - 1 - self._before
        return self._run.filled.span(max(first, 0), max(last, 0))

    def call(self, path: str) -> Span:
        """Return where the step starts a script, or else the first script that it starts."""
        scripts = [item for item in self._run.references if item.kind in ("script", "program")]
        chosen = [item for item in scripts if item.place == path] or scripts
        return self._run.span(chosen[0].call) if chosen else self._run.step.span


def _starts_something(run: Run) -> bool:
    return WORKSPACE not in run.filled.text and any(
        item.kind == "module" or (item.kind in ("program", "script") and item.place is not None)
        for item in run.references
    )


def _judged(run: Run, context: Context) -> Iterator[_Found]:
    """Yield what the rules say of the launches of a step and not of the scripts that it calls."""
    launches, before = _evaluated(run, context)
    ignored = context.registry.resolve_all(context.config.ignore, "ignore")
    for launch in launches:
        inputs.note(launch.script, context.project)
        for family in map(context.registry.family, FAMILIES) if launch.entries else ():
            for rule in family.rules:
                if rule.subject is not Subject.LAUNCH or rule.code in _OF_GUARDS or rule.code in ignored:
                    continue
                for finding in rule().check(launch, context):
                    if finding.severity is not Severity.INFO and not _known(finding, family.name, context):
                        yield _Found(run, launches[0], replace(finding, scenarios=()), before)


def _evaluated(run: Run, context: Context) -> tuple[Sequence[Launch], int]:
    """The launch of a step and those of scripts that it hands on, and how many characters stand in front of its text."""
    # A launch is kept: what the families remember of one goes by its identity.
    known: dict[object, tuple[Sequence[Launch], int]] = context.cache.setdefault("workflow launches", {})
    key = (run.workflow.path, run.step.span, run.filled.text, tuple(sorted(run.environment.items())))
    if key not in known:
        folder = (run.folder or "").removeprefix(WORKSPACE).strip("/")
        before = f"cd '{folder}'\n" if folder else ""
        inside = run.folder is not None and run.folder.startswith(WORKSPACE)
        known[key] = (_evaluate(run, before, context) if inside else ()), len(before)
    return known[key]


def _evaluate(run: Run, before: str, context: Context) -> Sequence[Launch]:
    path = f"{run.workflow.path}.{run.step.span.line}.sh"
    script = parse(path, (before + run.filled.text).encode("utf-8", "surrogateescape"))
    first = _explored(script, _scenario(run, context), context)
    if first.failure is not None:
        return ()
    # "uv run bash x.sh" is recorded as it is; what the script does with it is another evaluation.
    handed_on = (_handed_on(entry, context) for entry in first.entries)
    inner = [_explored(script, scenario, context) for script, scenario in filter(None, handed_on)]
    return [first, *(launch for launch in inner if launch.failure is None)]


def _explored(script: Script, scenario: Scenario, context: Context) -> Launch:
    """Evaluate a script; where a program on standard input decides whether it goes on, it is told that there are GPUs.

    Scripts ask so for the device (``$(python3 - <<EOF``) and stop when they do not know the answer.
    """
    from example_sanity.launch.explore import (
        explored,
    )  # the sandbox: where it is loaded, no process can be forked

    launch = explored(script, scenario, context.project.root, context.engine)
    asked = [" ".join(command.argv) for command in launch.commands if _is_asked(command.argv)]
    if not launch.status or not asked:
        return launch
    probes = {**scenario.probes, **dict.fromkeys(asked, Answer("cuda\n"))}
    told = explored(script, replace(scenario, probes=probes), context.project.root, context.engine)
    return told if told.failure is None and len(told.entries) > len(launch.entries) else launch


def _is_asked(argv: Sequence[str]) -> bool:
    return argv[-1] == "-" and any(word.rpartition("/")[2].startswith("python") for word in argv)


def _handed_on(entry: Entry, context: Context) -> tuple[Script, Scenario] | None:
    """The script that a recorded command starts, and what it is started with, where all of that is known."""
    path = posixpath.normpath(entry.file or "").lstrip("/")
    if path not in context.project.all_files or not context.project.is_shell(path):
        return None
    if not entry.command.unstable.isdisjoint(entry.arguments):
        return None
    arguments = tuple(entry.command.argv[index] for index in entry.arguments)
    scenario = Scenario("step", environment=dict(entry.command.environment), arguments=arguments)
    return parse(path, context.project.read(path)), scenario


def _scenario(run: Run, context: Context) -> Scenario:
    """The environment of a step. What only a run knows gets a value that reaches no verdict."""
    named = {name: value.replace(WORKSPACE, "") for name, value in run.environment.items()}
    texts = [run.filled.text, *_texts(run, context)]
    # Each made-up value costs a second evaluation.
    made_up = [name for name, value in named.items() if "$" in value] + [UNKNOWN.strip("${}")]
    return Scenario(
        "step",
        environment={**_RUNNER, **{name: value for name, value in named.items() if "$" not in value}},
        placeholders={name: "expression" for name in made_up if any(name in text for text in texts)},
    )


def _texts(run: Run, context: Context) -> Iterator[str]:
    places = {item.place for item in run.references if item.kind in ("script", "source")}
    for place in sorted(place for place in places if place):
        yield (context.project.peek(place) or b"").decode("utf-8", "replace")


def _known(finding: Finding, family: str, context: Context) -> bool:
    """Whether the family says the same of the script that the finding is in, started by itself."""
    if finding.path not in context.project.all_files or not context.project.is_shell(finding.path):
        return False
    try:
        own: Iterable[Finding] = context.findings(family, finding.path)
    except Uninspectable:
        return True
    return any(item.code == finding.code and item.span == finding.span for item in own)
