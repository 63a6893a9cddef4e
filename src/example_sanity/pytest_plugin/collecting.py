"""What the plugin does in a session where a flag asks for it."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from example_sanity import session as commands
from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.core.project import find_root
from example_sanity.pytest_plugin.arguments import Argument, Choice, given, is_chosen
from example_sanity.pytest_plugin.checking import Checker
from example_sanity.pytest_plugin.items import SanityFile, SanityItem
from example_sanity.report.model import counted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from example_sanity.core.runner import Run


class Collecting:
    """Adds our items to a session, and a summary to its report."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the configuration. Raises pytest.UsageError for a mistake in it or in the call."""
        self._config = config
        self._only: bool = config.getoption("example_sanity_only")
        self._arguments = given(config)
        self._summary = Summary()
        with _as_pytest_errors():
            self._run = _open_run(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Find the items, and take from pytest what is for us alone."""
        with _as_pytest_errors():
            choices = self._survey()
        self._reject_unknown(choices)
        notes = self._notes()
        if not self._items and self._is_asked:
            reason = "no file under these paths is a subject of these rules"
            raise pytest.UsageError("\n".join([f"example-sanity: nothing to inspect: {reason}", *notes]))
        self._summary.notes = notes
        if self._only or any(map(self._is_ours, self._arguments)):
            kept = [item.text for item in self._arguments if not self._is_ours(item)]
            self._config.args = [] if self._only else kept

    def _survey(self) -> list[Choice]:
        """Find the items that the call chooses, and return its choices (none: everything)."""
        project = self._run.project
        near = [a for a in self._arguments if self._only or _is_in(project.root, a.path)]
        choices = [Choice(project.relative(argument.path), argument.item) for argument in near]
        self._checker = Checker(self._run, list(dict.fromkeys(argument.path for argument in near)))
        is_elsewhere = bool(self._arguments) and not near
        items = () if is_elsewhere else self._checker.items
        self._items = [item for item in items if is_chosen(choices, *item)]
        return choices

    def _notes(self) -> list[str]:
        """What the run passes over, but for tests that the call names: those are pytest's."""
        tests = [argument for argument in self._arguments if argument.is_test]
        names = tuple(f"{_relative(self._run, argument)}: " for argument in tests)
        return [note for note in self._checker.notes if not note.startswith(names)]

    @property
    def _is_asked(self) -> bool:
        """Whether an argument, or none, can be for us; a call of single tests is not."""
        return self._only or not self._arguments or not all(item.is_test for item in self._arguments)

    def _is_ours(self, argument: Argument) -> bool:
        """Whether an argument is the node id of items of ours."""
        if argument.item is None or not _is_in(self._run.project.root, argument.path):
            return False
        choice = Choice(self._run.project.relative(argument.path), argument.item)
        return any(choice.names(*item) for item in self._items)

    def _reject_unknown(self, choices: list[Choice]) -> None:
        """Raise pytest.UsageError for the node id of an item that is not there, unless it can be a test's."""
        names = self._checker.names
        for choice in choices:
            if (
                choice.item is None
                or choice.path.endswith(".py")
                or any(choice.names(*i) for i in self._items)
            ):
                continue
            if choice.item not in names:
                hint = did_you_mean(choice.item, names)
                raise pytest.UsageError(f"example-sanity: no rule family {choice.item!r}{hint}")
            raise pytest.UsageError(
                f"example-sanity: not found: {choice.path}::{choice.item} (the family does not look at this file)"
            )

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Let pytest accept the name of a file in which only we find something."""
        named = any(argument.path == file_path and not argument.is_test for argument in self._arguments)
        return SanityFile.from_parent(parent, path=file_path) if named else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add our items behind the tests, before anything is deselected."""
        added = list(self._nodes(session))
        items.extend(added)
        # Pytest counts what collectors report ("collected 3 items"), not what a session holds.
        report = pytest.CollectReport(session.nodeid, "passed", None, [*added])
        self._config.hook.pytest_collectreport(report=report)

    def _nodes(self, session: pytest.Session) -> Iterator[SanityItem]:
        files: dict[str, SanityFile] = {}
        for relative, name in self._items:
            path = self._run.project.root / relative
            if relative not in files:
                nodeid = os.path.relpath(path, self._config.rootpath).replace(os.sep, "/")
                files[relative] = SanityFile.from_parent(session, path=path, nodeid=nodeid)
            yield SanityItem.from_parent(files[relative], name=name, checker=self._checker, relative=relative)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give the report of an item of ours what the summary needs."""
        report = yield
        if isinstance(item, SanityItem) and report.when == "call":
            report.example_sanity = item.notice  # type: ignore[attr-defined]
            if report.skipped:
                # Where the file is, not where this plugin is.
                report.longrepr = (
                    str(item.path),
                    1,
                    f"Skipped: {item.outcome.obstacle if item.outcome else ''}",
                )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what an item found, in whatever process it ran."""
        notice = getattr(report, "example_sanity", None)
        if notice:
            self._summary.add(notice)

    def pytest_sessionfinish(self) -> None:
        """Keep for the next run what this one worked out."""
        self._run.save()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show warnings, what was passed over, and how much was found."""
        lines = list(self._summary.lines())
        if lines:
            terminalreporter.section("example-sanity")
        for line in lines:
            terminalreporter.line(line)


class Summary:
    """What is said at the end of a session."""

    def __init__(self) -> None:
        self.notes: Sequence[str] = ()
        self._texts: list[str] = []
        self._counts: Counter[str] = Counter()

    def add(self, notice: dict[str, Any]) -> None:
        """Count the findings of one item."""
        self._texts += filter(None, [notice["text"]])
        self._counts.update(notice["severities"])
        self._counts["suppressed"] += notice["suppressed"]
        self._counts["items"] += 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        for shown in sorted(self._texts):
            yield from (*shown.split("\n"), "")
        yield from (f"note: {note}" for note in self.notes)
        if not self._counts["items"]:
            return
        parts = [counted(self._counts[name], name) for name in ("error", "warning") if self._counts[name]]
        parts += [f"{self._counts[name]} {name}" for name in ("info", "suppressed") if self._counts[name]]
        yield f"{', '.join(parts) or 'No findings'} in {counted(self._counts['items'], 'item')}."


def _open_run(config: pytest.Config) -> Run:
    option = config.getoption("example_sanity_config")
    # Pytest takes the value of an option for a path when it looks for its root, so that may be anywhere.
    folder = config.invocation_params.dir
    start = folder if folder.is_relative_to(config.rootpath) else config.rootpath
    run = commands.open_run(
        (),
        root=find_root([start]),
        config=config.invocation_params.dir / option if option else None,
        preset=config.getoption("example_sanity_preset"),
        cache=config.pluginmanager.hasplugin("cacheprovider"),
        # Pytest executes code of the repository anyway.
        allow_local_rules=True,
    )
    select = config.getoption("example_sanity_select")
    run.registry.resolve_all(select, "--example-sanity-select")
    if select:
        run.config = msgspec.structs.replace(run.config, select=tuple(select))
    return run


def _relative(run: Run, argument: Argument) -> str:
    return run.project.relative(argument.path) if _is_in(run.project.root, argument.path) else argument.text


def _is_in(root: Path, path: Path) -> bool:
    inside = any(
        Path(os.path.normpath(form)).is_relative_to(root)
        for form in (path, path.parent.resolve() / path.name)
    )
    return inside and (path.exists() or path.is_symlink())


@contextmanager
def _as_pytest_errors() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise pytest.UsageError(f"example-sanity: {error}") from error
