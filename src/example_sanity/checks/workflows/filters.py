"""WFL001-003: path filters that start a workflow on nothing, or whose entries say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.workflows import globs
from example_sanity.checks.workflows.paths import moved_to, submodules
from example_sanity.core.finding import Edit, Fix, Related, Severity
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.workflows.model import Item, PathFilter, Workflow
    from example_sanity.core.finding import Finding

_SOURCE = "GitHub Docs, Workflow syntax for GitHub Actions: on.<event>.paths, filter pattern cheat sheet"
_FILES = {
    "verl/workers/engine.py": "",
    "verl/trainer/main.py": "",
    "tests/e2e/run_sft.sh": "python3 train.py\n",
}


def _example(*patterns: str) -> Example:
    lines = "".join(f'      - "{pattern}"\n' for pattern in patterns)
    text = f"on:\n  pull_request:\n    paths:\n{lines}jobs: {{}}\n"
    return Example(text, ".github/workflows/e2e.yml", _FILES)


class _FilterRule(Rule):
    """A rule that looks at one path filter."""

    subject = Subject.WORKFLOW
    source = _SOURCE

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file may have filters: a workflow, not an action or a suite."""
        del context
        return path.startswith(".github/workflows/")

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every filter whose patterns GitHub can read; actionlint speaks of the others."""
        workflow = cast("Workflow", subject)
        for item in workflow.filters:
            if all(globs.is_valid(entry.value) for entry in item.items):
                yield from self._judge(workflow, item, context)

    def _judge(self, workflow: Workflow, given: PathFilter, context: Context) -> Iterator[Finding]:
        """Yield what is wrong with a filter."""
        raise NotImplementedError


def _matched(pattern: str, context: Context) -> list[str]:
    """The files that a pattern matches, worked out once a run."""
    files = context.project.all_files
    known: dict[str, list[str]] = context.cache.setdefault("workflow filters", {})
    text = globs.body(pattern)
    if text not in known:
        known[text] = globs.matched(text, files)
    return known[text]


def _called(given: PathFilter) -> str:
    return f"{'paths-ignore' if given.ignores else 'paths'} of {given.event}"


class DeadPathFilter(_FilterRule):
    """An entry of a path filter matches no file of the repository.

    A file was renamed, the name is misspelt, or a folder is named where GitHub compares with files: an entry matches
    the whole path, so ``tests/e2e`` and ``tests/e2e/`` match nothing and ``tests/e2e/**`` all below. The workflow then no longer
    runs on the changes that it was written for, and nothing says so.

    A warning; an error where a folder is named, or where no other entry matches either; advice where the entry only takes
    back (``!``) or ignores. Nothing is said of kinds of files (``**/*.ipynb``) and of submodules.

    Correct the entry, or delete it.
    """

    code = "WFL001"
    name = "dead-path-filter"
    summary = "an entry of a path filter matches no file"
    severity = Severity.WARNING
    bad = (_example("**/*.py", "verl/worksers/**"), _example("**/*.py", "tests/e2e"))
    good = (_example("**/*.py", "verl/workers/**"), _example("**/*.py", "**/*.ipynb"))

    def _judge(self, workflow: Workflow, given: PathFilter, context: Context) -> Iterator[Finding]:
        positive = [item for item in given.items if not globs.is_negative(item.value)]
        alive = any(_matched(item.value, context) for item in positive)
        for item in given.items:
            if _matched(item.value, context) or not _is_certain(item.value, context):
                continue
            folder = _folder(item.value, context)
            harmless = globs.is_negative(item.value) or given.ignores
            effect = "it takes nothing out" if harmless else "no change matches it"
            effect = "it ignores nothing" if given.ignores and not globs.is_negative(item.value) else effect
            if folder is not None:
                what = "folders" if globs.WILD.search(folder) else "a folder"
                told = f"names {what}, and GitHub compares it with files, so {effect}; write '{_sign(item)}{folder}/**'"
            else:
                told = f"{_absence(item.value, context)}, so {effect}; {_advice(workflow, item, context)}"
            if harmless:
                severity = Severity.WARNING if folder is not None else Severity.INFO
            else:
                severity = Severity.ERROR if folder is not None or not alive else Severity.WARNING
            yield self.finding(
                workflow.path,
                item.text.span(),
                f"{item.value!r} in {_called(given)} {told}",
                severity=severity,
                fix=_below(workflow.path, item, folder),
            )


def _sign(item: Item) -> str:
    return "!" if globs.is_negative(item.value) else ""


def _is_certain(pattern: str, context: Context) -> bool:
    text = globs.body(pattern)
    inside = (f"{text}/".startswith(f"{module}/") for module in submodules(context.project))
    return globs.names_something(pattern) and not any(inside)


def _folder(pattern: str, context: Context) -> str | None:
    """The folder that a pattern names as if that were all files in it; a pattern for folders where it has wildcards."""
    text = globs.body(pattern).removeprefix("./").rstrip("/")
    return text if text and _matched(f"{text}/**", context) else None


def _absence(pattern: str, context: Context) -> str:
    text = globs.body(pattern)
    if not globs.WILD.search(text):
        return "does not exist"
    parts = globs.trunk(text).split("/")
    gone = next(
        (
            name
            for end in range(1, len(parts) + 1)
            if (name := "/".join(parts[:end])) not in context.project.folders
        ),
        None,
    )
    number = len(context.project.all_files)
    return f"matches none of the {number} files" + (f": there is no {gone!r}" if gone else "")


def _advice(workflow: Workflow, item: Item, context: Context) -> str:
    text = globs.body(item.value)
    if text.startswith(".github/workflows/"):
        best: str | None = workflow.path
    else:
        best = moved_to(text, context.project)
    if best and (globs.matched(best, context.project.all_files)):
        return f"if '{_sign(item)}{best}' is meant, write that, else delete the entry"
    return "correct or delete the entry"


def _below(path: str, item: Item, folder: str | None) -> Fix | None:
    if folder is None:
        return None
    text = f"{_sign(item)}{folder}/**"
    span = item.text.span()
    if span.end_line != span.line:
        return None
    # A plain scalar must not begin with "!" or "*", but this one was written without trouble, and ends in "*" only.
    return Fix(
        f"match all files below: {text}", (Edit(path, span, text),), safe=not globs.WILD.search(folder)
    )


class IneffectivePathFilter(_FilterRule):
    """An entry of a path filter changes nothing, because entries below it decide every file that it matches.

    The last entry that matches a file decides. So an entry for one file or folder above a ``!`` for the folder around it
    says nothing, and neither does a ``!`` above all entries that take something in. A ``paths`` list of ``!`` entries alone
    takes in no file at all, and the workflow never starts: an error.

    Move the entry below those that undo it, or delete it.
    """

    code = "WFL002"
    name = "ineffective-path-filter"
    summary = "an entry of a path filter changes nothing where it stands"
    severity = Severity.WARNING
    bad = (_example("**/*.sh", "verl/trainer/main.py", "!verl/**"), _example("!verl/**"))
    good = (_example("**/*.sh", "!verl/**", "verl/trainer/main.py"),)

    def _judge(self, workflow: Workflow, given: PathFilter, context: Context) -> Iterator[Finding]:
        patterns = [item.value for item in given.items]
        if not given.ignores and all(map(globs.is_negative, patterns)):
            yield self.finding(
                workflow.path,
                given.items[0].text.span(),
                f"{_called(given)} has only entries with '!', which take back what others take in, so {given.event} never "
                "starts the workflow; put '**' above them",
                severity=Severity.ERROR,
            )
            return
        first = next((at for at, pattern in enumerate(patterns) if not globs.is_negative(pattern)), 0)
        for index, item in enumerate(given.items):
            if index < first and not given.ignores:
                yield self.finding(
                    workflow.path,
                    item.text.span(),
                    f"{item.value!r} in {_called(given)} takes nothing out: no entry above it takes anything in; move it below "
                    "those that do, or delete it",
                )
            undoing = () if globs.is_negative(item.value) else _undoing(patterns, index, context)
            if undoing and item.value not in patterns[index + 1 :]:
                yield self._undone(workflow, given, item, [given.items[other] for other in undoing], context)

    def _undone(
        self, workflow: Workflow, given: PathFilter, item: Item, undoing: list[Item], context: Context
    ) -> Finding:
        files = _matched(item.value, context)
        what = repr(files[0]) if len(files) == 1 else f"each of the {len(files)} files that it matches"
        numbers = sorted({other.text.span().line for other in undoing})
        lines = (
            f"line {numbers[0]} takes" if len(numbers) == 1 else f"lines {', '.join(map(str, numbers))} take"
        )
        return self.finding(
            workflow.path,
            item.text.span(),
            f"{item.value!r} in {_called(given)} has no effect: {lines} {what} out again, and the last entry that matches "
            "decides; move it below, or delete it",
            related=tuple(Related(workflow.path, other.text.span(), "decides instead") for other in undoing),
        )


def _undoing(patterns: list[str], index: int, context: Context) -> list[int]:
    """The later ``!`` entries that take out again every file of an entry, today and whatever files may come."""
    later = [at for at in range(index + 1, len(patterns)) if globs.is_negative(patterns[at])]
    files = _matched(patterns[index], context) if later else []
    found = {globs.decides(patterns, path): None for path in (*files, *globs.invented(patterns[index]))}
    return sorted(at for at in found if at is not None) if files and set(found) <= set(later) else []


class RepeatedPathFilter(_FilterRule):
    """An entry stands in a path filter twice.

    One of the two says nothing. Whoever deletes the other believes to have changed something.
    """

    code = "WFL003"
    name = "repeated-path-filter"
    summary = "an entry stands in a path filter twice"
    severity = Severity.WARNING
    bad = (_example("**/*.py", "tests/**", "**/*.py"),)
    good = (_example("**/*.py", "!tests/**", "tests/e2e/**"),)

    def _judge(self, workflow: Workflow, given: PathFilter, context: Context) -> Iterator[Finding]:
        del context
        first: dict[str, int] = {}
        for index, item in enumerate(given.items):
            if item.value in first:
                superfluous, kept = _superfluous(given, first[item.value], index)
                yield self._finding(workflow.path, given, superfluous, kept)
            first[item.value] = index

    def _finding(self, path: str, given: PathFilter, item: Item, kept: Item) -> Finding:
        line = kept.text.span().line
        where = "again" if line > item.text.span().line else "already"
        fix = None
        if item.removal is not None:
            fix = Fix(f"delete the repeated {item.value!r}", (Edit(path, item.removal, ""),))
        return self.finding(
            path,
            item.text.span(),
            f"{item.value!r} stands {where} on line {line} of {_called(given)}; delete this one",
            related=(Related(path, kept.text.span(), "this one is enough"),),
            fix=fix,
        )


def _superfluous(given: PathFilter, one: int, other: int) -> tuple[Item, Item]:
    """Of two equal entries the one that can go, and the other. The last counts where one between them takes back."""
    sign = globs.is_negative(given.items[one].value)
    between = any(globs.is_negative(item.value) != sign for item in given.items[one + 1 : other])
    return (given.items[one], given.items[other]) if between else (given.items[other], given.items[one])


RULES: tuple[type[Rule], ...] = (DeadPathFilter, IneffectivePathFilter, RepeatedPathFilter)
