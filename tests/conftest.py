"""What all tests share: a small project on disk, and a run over it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers import Write


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switches of tests that need more than Python."""
    parser.addoption("--browser", action="store_true", help="also open the HTML report in headless Chromium")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that were not asked for."""
    if config.getoption("--browser"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


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
