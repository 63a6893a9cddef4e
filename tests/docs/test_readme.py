"""What the README shows is what the tool says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from example_sanity.checks import FAMILIES
from helpers import Write, cli

REPOSITORY = Path(__file__).parents[2]
LAUNCHER = "examples/grpo_trainer/run_qwen3_5_35b_megatron_lite.sh"


def without_seconds(text: str) -> str:
    return re.sub(r"\(\d+\.\d+ s\)", "(0.00 s)", text)


def test_the_report_in_the_readme_is_real(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (REPOSITORY / LAUNCHER).read_text()
    root = write({LAUNCHER: source.replace("TP * CP * PP", "TP * EP * PP"), "example-sanity.toml": ""})
    monkeypatch.chdir(root)
    code, shown, _ = cli(capsys, "mesh", LAUNCHER)
    assert code == 1
    block = f"```console\n$ example-sanity mesh {LAUNCHER}\n{shown}```\n"
    assert without_seconds(block) in without_seconds((REPOSITORY / "README.md").read_text())


def test_the_readme_names_every_family_once_and_in_order() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (REPOSITORY / "README.md").read_text(), re.MULTILINE)

    assert table == list(FAMILIES)


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!https:)([^)#]+)", (REPOSITORY / "README.md").read_text())

    assert [link for link in links if not (REPOSITORY / link).exists()] == []
