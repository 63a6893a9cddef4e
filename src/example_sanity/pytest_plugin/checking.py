"""From a run to the outcome of single items: one for each file and rule family."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.core import settling
from example_sanity.core.rule import Subject, iterate_rules
from example_sanity.core.runner import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Rule
    from example_sanity.core.runner import Run

INSPECT = "inspect"
PROJECT = "project"
_WIDE = (Subject.PROJECT, Subject.STALE_BASELINE)


class Outcome(NamedTuple):
    """What an item found: what fails it, what is only shown, how much is suppressed, and why it could not look."""

    failing: tuple[Finding, ...]
    shown: tuple[Finding, ...]
    suppressed: int
    obstacle: str = ""


class Checker:
    """The items of a run over ``paths`` (all of the project when empty), and what each of them finds.

    An item is a path relative to the root and a name: of a family, ``inspect`` for whether the file could be looked at,
    or ``project`` (path ".") for what belongs to no file. All items share one run, so nothing is evaluated twice.
    """

    def __init__(self, run: Run, paths: Sequence[Path]) -> None:
        """Find the items. Raises UsageError for a path that does not exist."""
        self.run = run
        self._scope, self.notes = run.survey(run.registry.families, paths)
        # Lists of ignore entries that could not be read; nothing else has been read yet.
        self._unreadable = {item.path: item for item in run.problems} if self._scope.whole else {}
        self._family = {rule.code: family.name for family, rule in iterate_rules(run.registry.families)}
        self.names = (
            INSPECT,
            *(name for name in dict.fromkeys(self._family.values()) if name != "system"),
            PROJECT,
        )

    @cached_property
    def items(self) -> tuple[tuple[str, str], ...]:
        """Path and name of every item, by path, in the order of the families."""
        return (
            tuple(
                (path, name)
                for path in sorted({*self._scope.files, *self._commented, *self._unreadable})
                for name in self._names(path)
            )
            + self._project
        )

    def _names(self, path: str) -> Iterator[str]:
        judging = {self._family[rule.code] for rule in self._scope.rules if self.run.judges(rule, path)}
        if judging or path in self._unreadable:
            yield INSPECT
        if path in self._commented:
            judging |= {self._family[rule.code] for rule in self._rules(Subject.SUPPRESSION)}
        yield from (name for name in self.names if name in judging)

    @cached_property
    def _commented(self) -> frozenset[str]:
        """The files with suppressions, where a rule judges these."""
        if not self._rules(Subject.SUPPRESSION):
            return frozenset()
        under = {path for name in self._scope.named for path in self.run.project.under(name)}
        return frozenset(path for path in under if self._has_suppressions(path))

    def _has_suppressions(self, path: str) -> bool:
        return not self.run.project.is_excluded(path) and bool(settling.read_suppressions(self.run, path))

    @property
    def _project(self) -> tuple[tuple[str, str], ...]:
        wide = self._rules(Subject.PROJECT) or (self.run.baseline and self._rules(Subject.STALE_BASELINE))
        return ((".", PROJECT),) if wide and self._scope.whole else ()

    def _rules(self, *subjects: Subject) -> list[type[Rule]]:
        return [rule for rule in self._scope.rules if rule.subject in subjects]

    @cached_property
    def _all(self) -> Sequence[Finding]:
        """The findings of the whole run: what became of a suppression is only known when every rule has run."""
        return self.run.judge(self._scope).findings

    def outcome(self, path: str, name: str) -> Outcome:
        """Return what an item finds."""
        if name == PROJECT:
            codes = {rule.code for rule in self._rules(*_WIDE)}
            return self._outcome(finding for finding in self._all if finding.code in codes)
        if name == INSPECT:
            problems = self._obstacles(self._scope.rules, path)
            problems += [self._unreadable[path]] if path in self._unreadable else []
            return self._outcome(settling.settle(self.run, problems, Scope((), (path,), (path,))).findings)
        return self._family_outcome(path, name)

    def _obstacles(self, rules: Sequence[type[Rule]], path: str) -> list[Finding]:
        """What of a file could not be inspected. Another file that a rule needed has an item of its own, if it is asked for."""
        elsewhere = set(self._scope.files) - {path}
        return [item for item in self.run.obstacles(rules, path) if item.path not in elsewhere]

    def _family_outcome(self, path: str, family: str) -> Outcome:
        own = [rule for rule in self._scope.rules if self._family[rule.code] == family]
        per_file = tuple(rule for rule in own if rule.subject.is_per_file)
        found = self.run.judge(Scope(per_file, (path,), (path,))).findings
        found = [finding for finding in found if self._family[finding.code] == family]
        afterwards = {rule.code for rule in own if rule.subject is Subject.SUPPRESSION}
        if afterwards and path in self._commented:
            found += [item for item in self._all if item.code in afterwards and item.path == path]
        return self._outcome(found, self._obstacles(per_file, path))

    def _outcome(self, findings: Iterable[Finding], obstacles: Sequence[Finding] = ()) -> Outcome:
        every = list(findings)
        active = [finding for finding in every if finding.suppressed_by is None]
        threshold = self.run.config.fail_on.rank
        failing = tuple(finding for finding in active if finding.severity.rank >= threshold)
        shown = tuple(finding for finding in active if finding.severity.rank < threshold)
        reasons = (f"{finding.code} {finding.name}: {finding.message}" for finding in obstacles)
        return Outcome(failing, shown, len(every) - len(active), "; ".join(reasons))
