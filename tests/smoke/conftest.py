"""Whole-text snapshots of the reports; ``UPDATE_SNAPSHOTS=1 pytest tests/smoke`` writes them anew."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    """Return a function that compares a text with the snapshot of that name."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.write_text(text, "utf-8", newline="\n")
        assert text == path.read_text("utf-8")

    return compare


@pytest.fixture
def own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let launchers find the Python of the tests first: another may be a wrapper that takes its time."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
