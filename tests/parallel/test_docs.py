"""The page on the mesh says what the code does."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from example_sanity.parallel.backends import BACKENDS, megatron, megatron_lite
from example_sanity.parallel.mesh import Backend
from example_sanity.parallel.page import page

PAGE = Path(__file__).parents[2] / "docs" / "mesh.md"


def test_the_examples_run() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted > 20


def test_the_page_of_backends_is_up_to_date() -> None:
    written = (PAGE.parent / "backends.md").read_text("utf-8")
    assert written == page(), "run: python -m example_sanity.parallel.page > docs/backends.md"


def test_every_code_has_its_row() -> None:
    text = PAGE.read_text("utf-8")
    codes = {rule.code for backend in BACKENDS for rule in backend.constraints}
    assert [code for code in sorted(codes) if f"| {code} |" not in text] == []


SPECIAL: dict[int | str | None, str] = {None: "unset", "tp": "`tp`"}


def cells(backend: Backend) -> dict[str, str]:
    return {
        key.symbol: f"`{key.settings[0].removeprefix('actor_rollout_ref.actor.')}` | "
        f"{SPECIAL.get(key.default, str(key.default))}"
        for key in backend.keys
    }


@pytest.mark.parametrize("symbol", ["tp", "pp", "vpp", "cp", "ep", "etp"])
def test_every_size_has_its_row(symbol: str) -> None:
    lite, core = cells(megatron_lite.ACTOR_BACKEND)[symbol], cells(megatron.ACTOR_BACKEND)[symbol]
    assert f"| `{symbol}` | {lite} | {core} |" in PAGE.read_text("utf-8")
