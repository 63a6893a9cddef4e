"""The rules on ignore entries. An entry that should go gets one finding, however many reasons there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from example_sanity.checks.ignores import judge
from example_sanity.core.exemptions import Effect, Entry, Syntax
from example_sanity.core.finding import Edit, Finding, Fix, Related, Severity
from example_sanity.core.patterns import literal
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAUNCHER = {"examples/ppo/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}


def _table(path: str, rules: str, reason: str = 'reason = "moves in the next release"\n') -> str:
    return f'[[tool.example-sanity.per-file-ignore]]\npath = "{path}"\nrules = ["{rules}"]\n{reason}'


class _EntryRule(Rule):
    """A rule on one entry of an ignore list."""

    subject = Subject.CONFIG_ENTRY
    in_other_lists: ClassVar[Severity] = Severity.WARNING

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        entry = cast("Entry", subject)
        for message, related, fix in self._judge(entry, context):
            yield self.finding(
                entry.path,
                entry.span,
                message,
                severity=self._severity(entry),
                related=related,
                fix=fix,
            )

    def _severity(self, entry: Entry) -> Severity:
        return self.severity if _is_ours(entry) else self.in_other_lists

    def _judge(self, entry: Entry, context: Context) -> Iterator[tuple[str, tuple[Related, ...], Fix | None]]:
        """Yield message, related places and fix for what is wrong with the entry."""
        raise NotImplementedError


def _is_ours(entry: Entry) -> bool:
    """Whether the list was declared to us: it suppresses our findings, or says what we look at."""
    return bool(entry.rules) or entry.list_name in ("include", "exclude")


def _deletion(entry: Entry, *, safe: bool = True) -> Fix | None:
    if entry.removal is None:
        return None
    edit = Edit(entry.path, entry.removal, "")
    return Fix(f"delete {entry.pattern!r} from {entry.list_name}", (edit,), safe=safe)


class StaleIgnore(_EntryRule):
    """An entry of an ignore list names nothing that is in the repository.

    Lists outlive the files that they name: a launcher is renamed or deleted, its entry stays, and whoever reads the
    list believes in an exemption that is not there. Worse, a file that takes the old name later is exempt at once.

    Looked at are our ``per-file-ignore``, ``include`` and ``exclude``, lists bound with ``ignores.list``, ``exclude``
    and ``per-file-ignores`` of ruff, ``exclude`` and the overrides of mypy, ``files`` and ``exclude`` of pre-commit, and
    CODEOWNERS; each in the pattern language of its tool. An error in the lists that are ours, otherwise a warning.

    No finding are excludes of files that come and go (git ignores them, or they lie in a submodule or in a folder
    named under ``ignores.transient``), excludes of a kind of file (``*.ipynb``), and overrides of mypy for modules that
    are not this repository's or may be missing (``ignore_missing_imports``).

    Delete the entry, or correct it to the path that the file has now.
    """

    code = "IGN001"
    name = "stale-ignore"
    summary = "an entry of an ignore list matches nothing"
    bad = (Example(_table("examples/ppo/run_qwen2_7b_fsdp.sh", "NAM003"), "pyproject.toml", _LAUNCHER),)
    good = (
        Example(
            _table("examples/ppo/run_qwen3_8b.sh", "NAM003"),
            "pyproject.toml",
            {"examples/ppo/run_qwen3_8b.sh": "python3 train.py\n"},
        ),
    )

    def _judge(self, entry: Entry, context: Context) -> Iterator[tuple[str, tuple[Related, ...], Fix | None]]:
        if judge.is_stale(entry, context):
            problem = judge.broken(entry)
            if problem:
                yield f"{_called(entry)} is no valid pattern ({problem}), so it matches nothing", (), None
            else:
                # What may have been meant for another path is not to be lost unasked.
                unclear = _meant(entry, context) or _folder_of_files(entry, context)
                yield _stale_message(entry, context), (), _deletion(entry, safe=not unclear)


def _called(entry: Entry) -> str:
    return f"{' '.join(entry.pattern.split())!r} in {entry.list_name}"


def _stale_message(entry: Entry, context: Context) -> str:
    project = context.project
    if entry.syntax is Syntax.MODULE:
        return f"{_called(entry)} names no module of this repository, so the section does nothing; delete the entry"
    folder = _folder_of_files(entry, context)
    if folder:
        return f"{_called(entry)} names a folder, and ruff compares it with files; write '{folder}/**'"
    named, absent = literal(entry.pattern, entry.syntax), judge.missing_folder(entry, project)
    what = "does not exist" if named else f"matches none of the {len(project.all_files)} files"
    if absent:
        what = f"matches nothing: there is no {absent!r}"
    where = f" below {entry.bases[0]}" if entry.bases[0] else ""
    effects = {Effect.SELECTS: ", so nothing is looked at", Effect.ASSIGNS: ", so it assigns nothing"}
    target = _meant(entry, context)
    advice = f"if {target!r} is meant, name that, else delete it" if target else "delete the entry"
    return f"{_called(entry)} {what}{where}{effects.get(entry.effect, '')}; {advice}"


def _meant(entry: Entry, context: Context) -> str | None:
    """The path of the repository that an entry may be meant for."""
    if entry.syntax is Syntax.MODULE:
        return None
    named = literal(entry.pattern, entry.syntax) or judge.missing_folder(entry, context.project)
    return judge.moved_to(named, entry, context.project) if named else None


def _folder_of_files(entry: Entry, context: Context) -> str | None:
    """The folder that an entry of ruff's per-file-ignores names in vain."""
    named = literal(entry.pattern, entry.syntax)
    is_folder = any(f"{base}/{named}".lstrip("/") in context.project.folders for base in entry.bases)
    return named if entry.syntax is Syntax.RUFF_FILE and is_folder else None


class UnneededIgnore(_EntryRule):
    """What an entry exempts would pass anyway.

    Each file that the entry names is judged by the rules that it exempts, as if nothing were ignored. When none has
    a finding, the entry hides only future ones. The same holds for a folder in which there is nothing to judge. A
    file that cannot be inspected counts as one that needs its entry. Only lists that exempt from our rules are judged:
    ``per-file-ignore`` and lists bound to a family.

    Delete the entry.
    """

    code = "IGN002"
    name = "unneeded-ignore"
    summary = "what an entry ignores would pass anyway"
    severity = Severity.WARNING
    bad = (Example(_table("examples/ppo/run_qwen3_8b_fsdp.sh", "NAM003"), "pyproject.toml", _LAUNCHER),)
    good = (
        Example(
            _table("examples/ppo/run_qwen3_8b.sh", "NAM003"),
            "pyproject.toml",
            {"examples/ppo/run_qwen3_8b.sh": "python3 train.py\n"},
        ),
    )

    def _judge(self, entry: Entry, context: Context) -> Iterator[tuple[str, tuple[Related, ...], Fix | None]]:
        # An entry that goes for another reason is reported once, by that rule.
        if not entry.rules or judge.is_stale(entry, context) or judge.covering(entry, context):
            return
        if not judge.is_needed(entry, context):
            yield _unneeded_message(entry, context), (), _deletion(entry)


def _unneeded_message(entry: Entry, context: Context) -> str:
    files = entry.match(context.project.all_files)
    judged = judge.judged_files(entry, context)
    rules = _rules_in_words(entry.rules, context)
    if not judged:
        many = f"{len(files)} files" if len(files) > 1 else "1 file"
        return f"{_called(entry)} names {many} that {rules} does not look at; delete the entry"
    if len(judged) == 1:
        file = "it" if judged == [entry.pattern] else judged[0]
        return f"{_called(entry)} is not needed: {file} passes {rules} anyway; delete the entry"
    return f"{_called(entry)} is not needed: all {len(judged)} files that it names pass {rules} anyway; delete the entry"


def _rules_in_words(codes: frozenset[str], context: Context) -> str:
    for family in context.registry.families:
        if codes == {rule.code for rule in family.rules}:
            return family.name
    return ", ".join(sorted(codes))


class IgnoreWithoutReason(_EntryRule):
    """An entry does not say why it is there.

    Without a reason nobody dares to delete an exemption. In our configuration the ``reason`` of a ``per-file-ignore``
    is mandatory, so an empty one is an error. In a list bound to a family it is a comment: behind the entry, above it,
    above the run of entries that it stands in (a blank line ends a run) or, for the first run, above the list itself;
    where none of them says anything, it is a warning. "TODO" and directives to other tools (``noqa``) are no reasons.

    Say why the rule cannot hold there, and until when.
    """

    code = "IGN003"
    name = "ignore-without-reason"
    summary = "an ignore entry gives no reason"
    bad = (
        Example(
            _table("examples/ppo/run_qwen3_8b.sh", "NAM003", ""),
            "pyproject.toml",
            {"examples/ppo/run_qwen3_8b.sh": "python3 serve.py\n"},
        ),
    )
    good = (
        Example(
            _table(
                "examples/ppo/run_qwen3_8b.sh", "NAM003", 'reason = "inference only: there is no backend"\n'
            ),
            "pyproject.toml",
            {"examples/ppo/run_qwen3_8b.sh": "python3 serve.py\n"},
        ),
    )

    def _severity(self, entry: Entry) -> Severity:
        return Severity.ERROR if entry.list_name == "per-file-ignore" else Severity.WARNING

    def _judge(self, entry: Entry, context: Context) -> Iterator[tuple[str, tuple[Related, ...], Fix | None]]:
        if not entry.wants_reason or entry.reason or _should_go(entry, context):
            return
        rules = _rules_in_words(entry.rules, context)
        how = (
            f'add reason = "..." that says why {rules} cannot hold there'
            if entry.list_name == "per-file-ignore"
            else f"say in a comment above or behind it why {rules} cannot hold there"
        )
        yield f"{_called(entry)} gives no reason; {how}", (), None


def _should_go(entry: Entry, context: Context) -> bool:
    return (
        judge.is_stale(entry, context)
        or judge.covering(entry, context) is not None
        or not judge.is_needed(entry, context)
    )


class ShadowedIgnore(_EntryRule):
    """Another entry of the same list already covers this one, or says the same.

    Deleting either then changes nothing, and people delete the wrong one. An entry is covered when the other names
    all that it names now and all that it could ever name, for the same rules; that two globs agree on today's files
    does not count. In CODEOWNERS the last match wins, so an entry is covered by a broader one below it, and its
    owners are never asked. A list with negated entries is not judged: there the order decides.

    Delete the entry; in CODEOWNERS, move it below the other.
    """

    code = "IGN004"
    name = "shadowed-ignore"
    summary = "another entry of the list already covers this one"
    severity = Severity.WARNING
    bad = (
        Example(
            _table("examples/ppo/", "naming") + "\n" + _table("examples/ppo/run_qwen3.sh", "NAM003"),
            "pyproject.toml",
            {"examples/ppo/run_qwen3.sh": "python3 train.py\n"},
        ),
    )
    good = (
        Example(
            _table("examples/ppo/", "NAM002") + "\n" + _table("examples/ppo/run_qwen3_fp8.sh", "NAM003"),
            "pyproject.toml",
            {"examples/ppo/run_qwen3_fp8.sh": "python3 train.py\n"},
        ),
    )

    def _judge(self, entry: Entry, context: Context) -> Iterator[tuple[str, tuple[Related, ...], Fix | None]]:
        other = None if judge.is_stale(entry, context) else judge.covering(entry, context)
        if other is None:
            return
        related = (Related(other.path, other.span, _label(other)),)
        if entry.effect is Effect.ASSIGNS:
            message = (
                f"{_called(entry)} never takes effect: {other.pattern!r} on line {other.span.line} covers it, and the "
                "last match wins; move it below that line, or delete it"
            )
            yield message, related, None
        elif judge.says_the_same(entry, other):
            message = f"{_called(entry)} stands there twice, also on line {other.span.line}; delete one"
            yield message, related, _deletion(entry)
        else:
            message = f"{_called(entry)} is already covered by {other.pattern!r} on line {other.span.line}; delete it"
            yield message, related, _deletion(entry)


def _label(other: Entry) -> str:
    return (
        "this entry comes later and covers it" if other.effect is Effect.ASSIGNS else "this entry covers it"
    )


RULES: tuple[type[Rule], ...] = (StaleIgnore, UnneededIgnore, IgnoreWithoutReason, ShadowedIgnore)
