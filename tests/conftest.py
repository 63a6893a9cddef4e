"""What all tests share: a small project on disk, and a run over it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers import Write


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
