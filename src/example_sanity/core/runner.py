"""Runs rules over a project: from paths to an ordered report."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from example_sanity.core import baseline as baselines
from example_sanity.core import ignorelists, settling, system, workers
from example_sanity.core.enquiry import Enquiry
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, merge_scenarios
from example_sanity.core.rule import Rule, Subject, iterate_rules
from example_sanity.core.scope import Report, Scope, is_below
from example_sanity.core.trace import NAMED, Outcome, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from example_sanity.core.baseline import Baseline
    from example_sanity.core.cache import Cache, Value
    from example_sanity.core.config import Config, IgnoreList
    from example_sanity.core.exemptions import Entry
    from example_sanity.core.project import Project
    from example_sanity.core.registry import Registry
    from example_sanity.core.rule import Family

__all__ = ["Report", "Run", "Scope"]

Options = TypeVar("Options", bound=msgspec.Struct)
Kept = TypeVar("Kept")


class Run:
    """One run over a project. It is the Context that rules get, and keeps every subject that was loaded.

    ``named`` are the paths of the call. ``store`` keeps outcomes for the next run, ``jobs`` is the number of processes.
    """

    def __init__(
        self,
        project: Project,
        config: Config,
        registry: Registry,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a run; nothing is read yet. ``environment`` is what launchers are evaluated with."""
        self.environment: Mapping[str, str] = dict(environment or {})
        self.engine = "bashkit"
        self.commands_allowed = False
        self.cache: dict[str, Any] = {}
        self.named: tuple[str, ...] = ()
        self.keep_roots = False
        self.project = project
        self.config = config
        self.registry = registry
        self.problems: dict[Finding, None] = {}
        self.store: Cache | None = None
        self.jobs = 1
        self._trace = Trace()
        self._judged: dict[tuple[type[Rule], str], bool] = {}
        self._enquiry = Enquiry(self, ())
        self._matching: dict[tuple[Subject, str], bool] = {}
        self._memories: dict[str, tuple[Any, frozenset[str]]] = {}
        project.watch = self._trace.note

    def options(self, family: str, kind: type[Options]) -> Options:
        """Return the options of a family as its struct."""
        return self.config.options(family, kind)

    @property
    def inputs(self) -> frozenset[str]:
        """The names of all that the run looked at so far, as core.trace has them; the configuration is not among them."""
        return self._trace.inputs

    @cached_property
    def baseline(self) -> Baseline | None:
        """The accepted findings. Raises UsageError for a broken file; a command may set it."""
        path = self.config.baseline or baselines.DEFAULT
        self._trace.note(f"file:{path}")
        self.project.peek(path)  # before it is read, so that a later change is seen as one
        return baselines.load(self.project.root, self.config.baseline)

    @property
    def cache_folder(self) -> Path | None:
        """The folder of the cache, if one is used."""
        return self.store.folder if self.store else None

    @property
    def entries(self) -> list[Entry]:
        """The ignore entries that suppress findings, in the order of the lists."""
        entries: list[Entry] = self._noted(self._trace.once("entries", self._entries)).get()
        return entries

    def _entries(self) -> list[Entry]:
        found = ignorelists.own_entries(self.project, self.config, self.registry)
        for item in ignorelists.bound_lists(self.project, self.config, self.registry):
            found += self._bound_entries(item)
        return found

    def _bound_entries(self, item: IgnoreList) -> list[Entry]:
        try:
            return ignorelists.bound_entries(self.project, self.config, self.registry, item)
        except Uninspectable as error:
            self._trace.note_problem(_as_finding(item.file, error))
            return []

    def in_scope(self, path: str, roots: Sequence[str]) -> bool:
        """Return whether a file lies under one of ``roots``, or below a path outside all of them that the call names."""
        self._trace.note(NAMED)
        folders = [normpath(root) for root in roots]
        there = [folder for folder in folders if folder == "." or folder in self.project.folders]
        outside = [name for name in self.named if not any(_related(name, root) for root in there)]
        return any(is_below(path, folder) for folder in (*folders, *outside))

    def once(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` returns, called once in a run; what it looks at counts for all who ask."""
        return self._trace.once(("once", key), compute).get()

    def kept(self, key: str, kind: type[Kept], compute: Callable[[], Kept]) -> Kept:
        """Do as ``once``, and remember it between runs for as long as all that it looked at stays the same."""
        name = ("kept", key)
        if self.store and not self._trace.known(name):
            found = self.store.value(key, kind)
            if found is None:
                self.store.put_value(key, self._trace.once(name, compute))
            else:
                self._trace.keep(name, found)
        value: Kept = self._noted(self._trace.once(name, compute)).get()
        return value

    def memory(self, key: str, kind: type[Kept]) -> Kept:
        """Return what was worked out of texts alone, by a digest of each text; what stands in it is kept."""
        name = f"memory of {key}"
        if name not in self._memories:
            found = self.store.value(name, kind) if self.store else None
            known = {} if found is None else found.value
            self._memories[name] = (known, frozenset(known))
        memory: Kept = self._memories[name][0]
        return memory

    def load(self, subject: Subject, path: str) -> Sequence[object]:
        """Return the subjects of a file, loading them once. Raises Uninspectable each time if there can be none."""
        subjects: Sequence[object] = self._noted(
            self._trace.once((subject, path), lambda: self._load(subject, path))
        ).get()
        return subjects

    def _load(self, subject: Subject, path: str) -> Sequence[object]:
        try:
            loaded = self.registry.loaders[subject].load(self, path)
        except Uninspectable as error:
            self._trace.note_problem(_as_finding(path, error))
            raise
        for problem in loaded.problems:
            self._trace.note_problem(problem)
        return loaded.subjects

    def _noted(self, outcome: Outcome) -> Outcome:
        self.problems.update(dict.fromkeys(outcome.problems))
        return outcome

    def findings(self, family: str, path: str) -> Sequence[Finding]:
        """Return what a family says of a file when nothing is ignored. Raises Uninspectable."""
        found = self.registry.family(family)
        return [
            finding for rule in found.rules if rule.subject.is_per_file for finding in self.apply(rule, path)
        ]

    def apply(self, rule: type[Rule], path: str) -> list[Finding]:
        """Return what a rule says of a file, one finding for all scenarios that agree. Raises Uninspectable."""
        return list(self._noted(self.outcome(rule, path)).get())

    def outcome(self, rule: type[Rule], path: str) -> Outcome:
        """Return what a rule says of a file (or of the project, ".") and what it looked at, from the cache if that holds."""
        key = (rule.code, path)
        if not self._trace.known(key) and not self._from_store(rule, path):
            self.adopt(rule.code, path, self._trace.once(key, lambda: self._apply(rule, path)))
        return self._trace.once(key, list)

    def _from_store(self, rule: type[Rule], path: str) -> bool:
        cached = self.store.get(path, rule.code) if self.store else None
        if cached is not None:
            self._trace.keep((rule.code, path), cached)
        return cached is not None

    def adopt(self, code: str, path: str, outcome: Outcome) -> None:
        """Take over what a rule says of a file, for this run and the cache."""
        self._trace.keep((code, path), outcome)
        if self.store:
            self.store.put(path, code, outcome)

    def _apply(self, rule: type[Rule], path: str) -> list[Finding]:
        check = rule().check
        if rule.subject is Subject.PROJECT:
            return list(check(self.project, self))
        subjects = self.load(rule.subject, path) if self.matches(rule.subject, path) else ()
        return merge_scenarios(finding for item in subjects for finding in check(item, self))

    def matches(self, subject: Subject, path: str) -> bool:
        """Return whether a file is a subject of a kind."""
        key = (subject, path)
        if key not in self._matching:
            loader = self.registry.loaders.get(subject)
            self._matching[key] = loader is not None and loader.matches(self, path)
        return self._matching[key]

    def check(
        self,
        families: Sequence[Family],
        paths: Sequence[Path] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Run the enabled rules of ``families`` over ``paths`` (the whole project when empty) and report.

        Raises UsageError for a path that does not exist.
        """
        started = time.perf_counter()
        scope, notes = self.survey(families, paths)
        settled = self.judge(scope, progress)
        self.save()
        return Report(
            findings=tuple(item for item in settled.findings if item.suppressed_by is None),
            suppressed=tuple(item for item in settled.findings if item.suppressed_by is not None),
            inspected=self._enquiry.count(scope),
            notes=tuple(notes),
            seconds=time.perf_counter() - started,
            files=scope.files,
            stale=tuple(settled.stale),
        )

    def survey(self, families: Sequence[Family], paths: Sequence[Path] = ()) -> tuple[Scope, Sequence[str]]:
        """Return what a run looks at, and notes on what it passes over. Raises UsageError as ``check``."""
        names = tuple(self.project.relative(path) for path in paths) or (".",)
        self.named = names if paths and not self.keep_roots else ()
        self._judged.clear()
        rules = [
            rule
            for rule in self._enabled(self._concerned(families, names))
            if rule.subject is not Subject.PROJECT or rule.applies(".", self)
        ]
        self._enquiry = Enquiry(self, rules)
        files, notes = self._enquiry.files(names)
        self.entries  # noqa: B018  # lists that cannot be read are problems of the run
        return Scope(tuple(rules), names, tuple(files)), notes

    def _concerned(self, families: Sequence[Family], names: Sequence[str]) -> list[Family]:
        """The families that have something to say of the named paths; to import another costs more than to ask."""
        if "." in names:
            return list(families)
        wanted = {subject for family in families for subject in family.subjects}
        files = {path for name in names for path in self.project.under(name)}
        there = {
            subject
            for subject in wanted
            if subject.is_afterwards or any(self.matches(subject, path) for path in files)
        }
        return [family for family in families if not family.subjects.isdisjoint(there)]

    def save(self) -> None:
        """Keep for the next run what this one worked out."""
        if self.store:
            self._keep_memories(self.store)
            self.store.save()

    def hand_over(self) -> dict[str, Value]:
        """Return what this process has to keep beside outcomes and has not handed over yet."""
        if self.store is None:
            return {}
        self._keep_memories(self.store)
        values, self.store.new_values = self.store.new_values, {}
        return values

    def _keep_memories(self, store: Cache) -> None:
        for name, (known, before) in self._memories.items():
            if before != known.keys():
                store.put_value(name, Outcome(known))
                self._memories[name] = (known, frozenset(known))

    def judge(self, scope: Scope, progress: Callable[[int, int], None] | None = None) -> settling.Settled:
        """Return what the rules of a scope, the one surveyed last, say of its files, suppressed findings included."""
        return settling.settle(self, self._collect(scope, progress), scope)

    def obstacles(self, rules: Iterable[type[Rule]], path: str) -> list[Finding]:
        """Return what of a file the rules needed and could not inspect."""
        outcomes = [self.outcome(rule, path) for rule in rules if self.judges(rule, path)]
        return list(dict.fromkeys(problem for outcome in outcomes for problem in outcome.problems))

    def judged(self, families: Sequence[Family], files: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return which of ``files`` the enabled rules of each family judge, families that judge none left out."""
        found = {}
        for family in families:
            rules = self._enabled([family])
            paths = tuple(path for path in files if any(self.judges(rule, path) for rule in rules))
            if paths:
                found[family.name] = paths
        return found

    def _collect(self, scope: Scope, progress: Callable[[int, int], None] | None) -> list[Finding]:
        """Return what the rules say, and what could not be inspected."""
        tell = progress or (lambda done, total: None)
        tasks = [(path, self._enquiry.rules(path)) for path in scope.files]
        if self.jobs > 1:
            self._spread(self._missing(tasks), tell)
        self._prepare(self._missing(tasks))
        found: list[Finding] = []
        for number, (path, rules) in enumerate(tasks, 1):
            found += self._inspect(path, rules)
            tell(number, len(tasks))
        found += self._inspect(".", scope.wide_rules)
        wanted = set(scope.files)
        return [*found, *(item for item in self.problems if scope.whole or item.path in wanted)]

    def _missing(self, tasks: Iterable[workers.Task]) -> list[workers.Task]:
        """What neither this run nor the cache has, files without such a rule left out."""
        left = ((path, tuple(r for r in rules if not self._has(r, path))) for path, rules in tasks)
        return [task for task in left if task[1]]

    def _spread(self, tasks: Iterable[workers.Task], tell: Callable[[int, int], None]) -> None:
        """Let other processes do the work, but for that of judging a name, which costs less than to ask."""
        worth = (
            (path, tuple(r for r in rules if r.subject is not Subject.SCRIPT_PATH)) for path, rules in tasks
        )
        left = [task for task in worth if task[1]]
        workers.spread(self, left, self.jobs, lambda done: tell(done, len(left)))

    def _prepare(self, tasks: Iterable[workers.Task]) -> None:
        files: dict[type[Rule], list[str]] = {}
        for path, rules in tasks:
            for rule in rules:
                files.setdefault(rule, []).append(path)
        for rule, paths in files.items():
            rule.prepare(paths, self)

    def _has(self, rule: type[Rule], path: str) -> bool:
        return self._trace.known((rule.code, path)) or self._from_store(rule, path)

    def _inspect(self, path: str, rules: Iterable[type[Rule]]) -> list[Finding]:
        """Return what the rules say; where one could not look, the problem is noted."""
        outcomes = [self._noted(self.outcome(rule, path)) for rule in rules]
        return [finding for outcome in outcomes for finding in outcome.value or ()]

    def _enabled(self, families: Sequence[Family]) -> list[type[Rule]]:
        where = self.config.path or "configuration"
        selected = self.registry.resolve_all(self.config.select, f"{where}: select")
        ignored = self.registry.resolve_all(self.config.ignore, f"{where}: ignore")
        return [
            rule
            for _, rule in iterate_rules(families)
            if rule.code not in ignored and (not selected or rule.code in selected)
        ]

    def judges(self, rule: type[Rule], path: str) -> bool:
        """Return whether a rule looks at a file."""
        key = (rule, path)
        if key not in self._judged:
            self._judged[key] = self._looks(rule, path)
        return self._judged[key]

    def _looks(self, rule: type[Rule], path: str) -> bool:
        return rule.subject.is_per_file and self.matches(rule.subject, path) and rule.applies(path, self)


def _as_finding(path: str, error: Uninspectable) -> Finding:
    found = system.problem(error.code, path, error.message, error.span)
    return msgspec.structs.replace(found, severity=error.severity) if error.severity else found


def _related(name: str, root: str) -> bool:
    """Whether one of the two folders contains the other."""
    return is_below(name, root) or is_below(root, name)
