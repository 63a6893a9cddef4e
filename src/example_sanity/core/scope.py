"""What a run is about, and what comes out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core import baseline as baselines
from example_sanity.core.finding import Finding, Severity
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule
    from example_sanity.core.runner import Run


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies below it; the root is empty or a dot."""
    return folder in ("", ".") or path == folder or path.startswith(folder.rstrip("/") + "/")


class Report(msgspec.Struct, frozen=True):
    """The outcome of a run.

    ``findings`` and ``suppressed`` are sorted by path, place and code. ``inspected`` counts subjects by kind, ``notes``
    say what was passed over, ``seconds`` is the wall time, ``files`` are those that a rule judged. ``stale`` are path, code
    and fingerprint of what the baseline holds and is gone.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    inspected: dict[str, int]
    notes: tuple[str, ...]
    seconds: float
    files: tuple[str, ...] = ()
    stale: tuple[tuple[str, str, str], ...] = ()

    @property
    def baselined(self) -> int:
        """How many of the suppressed findings are in the baseline."""
        return sum(finding.suppressed_by == baselines.LABEL for finding in self.suppressed)

    @property
    def nothing_inspected(self) -> bool:
        """Whether no subject was found at all."""
        return not any(self.inspected.values())

    def fails(self, threshold: Severity) -> bool:
        """Whether a finding is at least as bad as ``threshold``."""
        return any(finding.severity.rank >= threshold.rank for finding in self.findings)


class Scope(msgspec.Struct, frozen=True):
    """What a run is about: the enabled rules, the paths of the call ("." is the project), and the files to judge."""

    rules: tuple[type[Rule], ...]
    named: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether the whole project is looked at."""
        return "." in self.named

    @property
    def wide_rules(self) -> list[type[Rule]]:
        """The rules that look at the project as a whole; none when only a part is asked for."""
        return [rule for rule in self.rules if rule.subject is Subject.PROJECT] if self.whole else []

    def judged(self, path: str, run: Run) -> frozenset[str]:
        """Return the codes of the rules that had their say on a file, but for those that run afterwards."""
        rules = (
            rule
            for rule in self.rules
            if not rule.subject.is_afterwards and (self.whole or run.judges(rule, path))
        )
        return frozenset(rule.code for rule in rules)

    def includes(self, path: str) -> bool:
        """Return whether a file, there or not, is among what the call names."""
        return any(is_below(path, name) for name in self.named)
