"""A repository in which pytest runs with the plugin, in this process or in one of its own."""

from __future__ import annotations

from pathlib import Path

# Extension modules cannot be imported twice, which a run within this process would make them.
import bashkit  # noqa: F401
import msgspec  # noqa: F401
import pytest
import rapidfuzz.process  # noqa: F401
import tree_sitter_bash  # noqa: F401

from pytest_runs import FILES, PLUGIN, Repository, Run


@pytest.fixture
def repository(pytester: pytest.Pytester) -> Repository:
    """Return a function that writes files (by default: a clean and a broken launcher, and a test)."""

    def write(files: dict[str, str] | None = None, **more: str) -> Path:
        for name, text in {**(FILES if files is None else files), **more}.items():
            path = pytester.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return pytester.path

    return write


@pytest.fixture(autouse=True)
def _find_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


@pytest.fixture
def sanity(pytester: pytest.Pytester) -> Run:
    """Return a function that runs pytest with the plugin in this process."""

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*PLUGIN, *arguments)

    return run
