"""The page on plans shows what the command prints, and knows every family."""

from __future__ import annotations

import re

import pytest

from example_sanity.smoke.families import FAMILIES
from helpers import cli
from smoke.planned import ROOT

PAGE = (ROOT / "docs/smoke.md").read_text("utf-8")


def test_the_plan_on_the_page_is_the_plan(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    block = re.search(r"```console\n\$ example-sanity (.*)\n([^`]*)```", PAGE)
    assert block is not None
    code, out, err = cli(capsys, *block[1].split())

    shown, printed = (re.sub(r"(deepseek_v4-)[0-9a-f]{12}", r"\1HASH", text) for text in (block[2], out))
    assert (code, err) == (0, "")
    assert printed.startswith(shown)
    assert printed.removeprefix(shown).strip().startswith("env CP=2 EP=2 ")


def test_every_family_is_on_the_page() -> None:
    assert all(f"`{family}`" in PAGE for family in FAMILIES)
