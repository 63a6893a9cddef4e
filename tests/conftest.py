"""What all tests share: a small project on disk, and a run over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers import Write

# No test is timed: a busy machine must not fail one. Continuous integration draws the same lots every time.
settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes files into a fresh folder and returns the folder."""

    def build(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return build


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--browser", action="store_true", help="also open the HTML report in headless Chromium")
    parser.addoption(
        "--install", action="store_true", help="also install the package into environments of their own"
    )
    parser.addoption(
        "--models", action="store_true", help="also make tiny checkpoints; takes torch and transformers"
    )
    parser.addoption(
        "--corpus",
        action="append",
        default=[],
        metavar="DIR",
        help="also compare the sandbox with real bash on every shell script of the repository DIR",
    )
    parser.addoption(
        "--hydra",
        metavar="PYTHON",
        help="also compare the override parser with the hydra-core of an interpreter",
    )
    parser.addoption(
        "--ray", metavar="PYTHON", help="also submit smoke runs to a Ray of the environment of an interpreter"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "corpus" in metafunc.fixturenames:
        folders = [Path(folder).resolve() for folder in metafunc.config.getoption("--corpus")]
        metafunc.parametrize("corpus", folders, ids=[folder.name for folder in folders])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what cannot run: other repositories, the browser and installations unless asked for, real bash where nothing can shut it in.

    In continuous integration real bash has to be there: its tests fail rather than disappear.
    """
    unwanted = [item for item in items if _unwanted(config, item)]
    config.hook.pytest_deselected(items=unwanted)
    items[:] = [item for item in items if item not in unwanted]


# Each of these markers runs with the option of the same name.
_OPTIONS = ("browser", "corpus", "hydra", "install", "models", "ray")


def _unwanted(config: pytest.Config, item: pytest.Item) -> bool:
    if any(item.get_closest_marker(name) and not config.getoption(f"--{name}") for name in _OPTIONS):
        return True
    if item.get_closest_marker("real_bash"):
        from example_sanity.launch import realbash

        return realbash.refusal() is not None and "CI" not in os.environ
    return False
