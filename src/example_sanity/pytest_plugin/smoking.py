"""``pytest --example-sanity-smoke``: one item for each launcher that trains, run for real where there is a GPU."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from example_sanity import session as commands
from example_sanity.core.cache import folder_of
from example_sanity.core.errors import Uninspectable, UsageError
from example_sanity.core.project import find_root
from example_sanity.core.rule import Subject
from example_sanity.doctor import gpus
from example_sanity.pytest_plugin import GPU, MARKER
from example_sanity.pytest_plugin.arguments import Choice, given, is_chosen
from example_sanity.pytest_plugin.items import SanityFile
from example_sanity.smoke import planning, preparing, running
from example_sanity.smoke.report import render
from example_sanity.smoke.trial import Bench, Inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.runner import Run
    from example_sanity.launch.syntax import Script
    from example_sanity.smoke.result import SmokeResult

SMOKE = "smoke"


class Smoking:
    """Adds the items of smoke runs to a session."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the node ids that are for smoke runs from the call. Raises pytest.UsageError for a wrong configuration."""
        self._config = config
        try:
            self._run = _open_run(config)
        except UsageError as error:
            raise pytest.UsageError(f"example-sanity: {error}") from error
        self._arguments = given(config)
        ours = {argument.text for argument in self._arguments if argument.item == SMOKE}
        config.args = [text for text in config.args if text not in ours]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Let pytest accept the name of a launcher, in which it finds no test."""
        named = any(argument.path == file_path and not argument.is_test for argument in self._arguments)
        return SanityFile.from_parent(parent, path=file_path) if named else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items behind the tests, before anything is deselected."""
        added = list(self._nodes(session))
        items.extend(added)
        report = pytest.CollectReport(session.nodeid, "passed", None, [*added])
        self._config.hook.pytest_collectreport(report=report)

    def _nodes(self, session: pytest.Session) -> Iterator[SmokeItem]:
        for relative in self._launchers():
            path = self._run.project.root / relative
            nodeid = os.path.relpath(path, self._config.rootpath).replace(os.sep, "/")
            file = SanityFile.from_parent(session, path=path, nodeid=nodeid)
            yield SmokeItem.from_parent(file, name=SMOKE, run=self._run)

    def _launchers(self) -> Iterator[str]:
        """Yield the launchers that train something, as far as the call asks for them."""
        root = self._run.project.root
        inside = [argument for argument in self._arguments if argument.path.is_relative_to(root)]
        if self._arguments and not inside:
            return
        choices = [Choice(self._run.project.relative(item.path), item.item) for item in inside]
        loader = self._run.registry.loaders[Subject.SCRIPT]
        for relative in sorted(self._run.project.under(".")):
            if not is_chosen(choices, relative, SMOKE) or not loader.matches(self._run, relative):
                continue
            if not self._run.project.is_excluded(relative) and _trains(self._run, relative):
                yield relative


class NotPassed(Exception):
    """Carries that a run has not passed."""


class SmokeItem(pytest.Item):
    """The smoke run of one launcher. ``result`` is known when it has run."""

    def __init__(self, *, run: Run, **options: Any) -> None:
        """Make the item of the launcher that is the parent."""
        super().__init__(**options)
        self._run = run
        self.result: SmokeResult | None = None
        self.add_marker(MARKER)
        self.add_marker(GPU)

    def runtest(self) -> None:
        """Plan, prepare and run the launcher; skip where there is no GPU, fail where it does not pass or is refused."""
        seen = gpus.visible()
        if not seen.names:
            pytest.skip(f"no GPU: {seen.problem or 'CUDA_VISIBLE_DEVICES hides all of them'}")
        folder = (folder_of(self._run.project.root) / "smoke").resolve()
        wish = planning.Wish(len(seen.names), folder)
        plan = preparing.prepare(planning.plan(self._run, self.path, wish))
        options = running.Options(
            log=folder / "logs" / f"{self.path.stem}.log",
            limit=self.config.getoption("example_sanity_smoke_time_limit") * 60,
        )
        self.result = running.run(plan, self._run.project.root, options)
        self.user_properties.append(("smoke", self.result.verdict))
        if self.result.verdict != "passed":
            raise NotPassed

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of the run, or the reason of a refusal; a traceback only where this tool itself failed."""
        if isinstance(excinfo.value, NotPassed) and self.result is not None:
            return render([self.result], "text")
        if isinstance(excinfo.value, UsageError):
            return f"refused: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where it is, and what it is called."""
        return self.path, None, f"{self.path.name}::{self.name}"


def _trains(run: Run, path: str) -> bool:
    """Whether a script starts a training program whose mesh is known, when nothing is set for it."""
    try:
        (script,) = run.load(Subject.SCRIPT, path)
    except Uninspectable:
        return False
    bench = Bench(cast("Script", script), run.project.root)
    trial = bench.run(Inputs(positional=bench.positional))
    return trial.entry is not None and trial.mesh(lambda _: None) is not None


def _open_run(config: pytest.Config) -> Run:
    option = config.getoption("example_sanity_config")
    folder = config.invocation_params.dir
    return commands.open_run(
        (),
        root=find_root([folder if folder.is_relative_to(config.rootpath) else config.rootpath]),
        config=folder / option if option else None,
        preset=config.getoption("example_sanity_preset"),
        cache=config.pluginmanager.hasplugin("cacheprovider"),
        allow_local_rules=True,
    )
