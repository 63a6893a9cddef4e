"""The nodes of the plugin: a file, and one item for each family that judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from example_sanity.core.runner import Report
from example_sanity.pytest_plugin import MARKER
from example_sanity.report.model import View
from example_sanity.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from example_sanity.core.finding import Finding
    from example_sanity.core.runner import Run
    from example_sanity.pytest_plugin.checking import Checker, Outcome


_NOTHING = Report((), (), {}, (), 0.0)


class SanityFile(pytest.File):
    """A file with items. Pytest's own walk finds nothing in it: the plugin makes the items."""

    def collect(self) -> Sequence[pytest.Item]:
        """Return nothing."""
        return ()


class FindingsFound(Exception):
    """Carries the findings that fail an item."""


class SanityItem(pytest.Item):
    """What one rule family says of one file. ``outcome`` is known when it has run."""

    def __init__(self, *, checker: Checker, relative: str, **options: Any) -> None:
        """Make an item of ``relative``, a path as the project calls it."""
        super().__init__(**options)
        self._checker, self._relative = checker, relative
        self.outcome: Outcome | None = None
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Fail with the findings, or skip where the file could not be inspected."""
        self.outcome = self._checker.outcome(self._relative, self.name)
        if self.outcome.failing:
            raise FindingsFound
        if self.outcome.obstacle:
            pytest.skip(self.outcome.obstacle)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the findings as text; a traceback only where a rule itself failed."""
        if self.outcome is None or not isinstance(excinfo.value, FindingsFound):
            return super().repr_failure(excinfo, style)
        return text((*self.outcome.failing, *self.outcome.shown), self._checker.run)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and what is shown for the item."""
        return self.path, None, f"{self._relative} [{self.name}]"

    @property
    def notice(self) -> dict[str, Any] | None:
        """What the summary needs to know of the item, in plain data, which other processes can read."""
        if self.outcome is None:
            return None
        told = () if self.outcome.failing else self.outcome.shown
        found = (*self.outcome.failing, *self.outcome.shown)
        return {
            "severities": [finding.severity.value for finding in found],
            "suppressed": self.outcome.suppressed,
            "text": text(told, self._checker.run),
        }


def text(findings: Iterable[Finding], run: Run) -> str:
    """Return the text report of findings, without colour: it also goes to files and other processes."""
    view = View(report=_NOTHING, lines=run.project.lines)
    return "\n\n".join("\n".join(finding_lines(finding, view)) for finding in findings)
