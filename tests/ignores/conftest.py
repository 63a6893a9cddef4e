"""A small repository on disk, and what the family says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.core.finding import Finding

Judge = Callable[..., list[Finding]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return a function that writes files and returns the findings of the family on them."""

    def run(
        files: Mapping[str, str], *, preset: str | None = None, config: Path | None = None
    ) -> list[Finding]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
        opened = session.open_run((), root=tmp_path, preset=preset, config=config)
        return list(opened.check([opened.registry.family("ignores")]).findings)

    return run
