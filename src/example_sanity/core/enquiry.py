"""Which rules of a run look at which files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.errors import UsageError, nearest
from example_sanity.core.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.project import Project
    from example_sanity.core.runner import Run
    from example_sanity.core.scope import Scope


class Enquiry:
    """Which of the rules of a run look at which file, worked out once for each file."""

    def __init__(self, run: Run, rules: Iterable[type[Rule]]) -> None:
        self._run = run
        self._rules = [(rule, rule.subject, _chooses(rule)) for rule in rules if rule.subject.is_per_file]
        self._subjects = {subject for _, subject, _ in self._rules}
        self._known: dict[str, tuple[type[Rule], ...]] = {}

    def rules(self, path: str) -> tuple[type[Rule], ...]:
        """Return the rules that judge a file, in their order."""
        if path not in self._known:
            # Most files are of no kind that any rule looks at, and there are more rules than kinds.
            kinds = {subject for subject in self._subjects if self._run.matches(subject, path)}
            self._known[path] = tuple(
                rule
                for rule, subject, chooses in (self._rules if kinds else ())
                if subject in kinds and (not chooses or self._run.judges(rule, path))
            )
        return self._known[path]

    def count(self, scope: Scope) -> dict[str, int]:
        """Return how many files of each kind are judged."""
        counts = {rule.subject.counted_as: 1 for rule in scope.wide_rules}
        for path in scope.files:
            subjects = {rule.subject for rule in self.rules(path)}
            for kind in {subject.counted_as for subject in subjects}:
                counts[kind] = counts.get(kind, 0) + 1
        return dict(sorted(counts.items()))

    def files(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the files under the named paths that a rule judges, and notes on what was passed over. Raises UsageError."""
        chosen: dict[str, None] = {}
        notes = []
        for name in names:
            if not self._run.project.holds(name):
                raise UsageError(_missing(name, self._run.project))
            explicit = not (self._run.project.root / name).is_dir()
            if explicit and self._run.project.is_excluded(name):
                notes.append(f"{name}: skipped, the configuration excludes it")
                continue
            judged = [path for path in self._run.project.under(name) if self.rules(path)]
            if explicit and not judged:
                notes.append(f"{name}: skipped, these rules do not look at such a file")
            chosen.update(dict.fromkeys(judged))
        own = self._run.config.path
        if "." in names and own and self.rules(own):
            chosen[own] = None  # also where it lies outside the tree, or is not among what it includes
        return sorted(chosen), notes


def _chooses(rule: type[Rule]) -> bool:
    """Whether a rule judges only some of the files that it could."""
    return getattr(rule.applies, "__func__", None) is not getattr(Rule.applies, "__func__", None)


def _missing(name: str, project: Project) -> str:
    best = nearest(name, (*project.all_files, *project.folders - {""}))
    return f"no such file or folder: {name}" + (f" (did you mean {best!r}?)" if best else "")
