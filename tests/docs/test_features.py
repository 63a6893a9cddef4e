"""Every command of the feature table does what the table says."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import cli

PAGE = Path(__file__).parents[2] / "docs/features.md"
ROW = re.compile(
    r"^\| (?P<feature>[^|]+) \| `example-sanity (?P<call>[^`]+)` \| (?P<exit>\d) \| `(?P<shows>[^`]+)` \|$",
    re.M,
)
ROWS = [found.groupdict() for found in ROW.finditer(PAGE.read_text("utf-8"))]

BODY = "set -euo pipefail\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 actor_rollout_ref.rollout.name=vllm\n"
LAUNCH = f"#!/usr/bin/env bash\n{BODY}"
FILES = {
    "README.md": "a project\n",
    "docs/a.md": "no launcher\n",
    "examples/grpo/run_qwen3_vllm_fsdp.sh": LAUNCH,
    "examples/old/run_npu.sh": LAUNCH,
    "examples/grpo/run_qwen3_8b_sglang_fsdp.sh": f"# sanity: ignore-file[NAM002] renamed next release\n{BODY}",
    "examples/grpo/run_qwen3_8b_fsdp.sh": f"# sanity: ignore[NAM003] never needed\n{BODY}",
    "typo.toml": "exclud = []\n",
    "pyproject.toml": """\
[tool.example-sanity]
ignore = ["ENV"]

[[tool.example-sanity.per-file-ignore]]
path = "examples/old/"
rules = ["naming"]
reason = "legacy"

[[tool.example-sanity.per-file-ignore]]
path = "examples/gone/"
rules = ["naming"]
reason = "legacy"
""",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("features")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in ([*git, "init", "-q"], [*git, "add", "."], [*git, "commit", "-qm", "all"]):
        subprocess.run(command, cwd=root, check=True)
    return root


def test_the_table_is_read() -> None:
    text = PAGE.read_text("utf-8")

    assert len(ROWS) == text.count("| `example-sanity ") > 40


@pytest.mark.parametrize("row", ROWS, ids=[row["feature"] for row in ROWS])
def test_each_command_shows_its_feature(
    row: dict[str, str],
    original: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = shutil.copytree(original, tmp_path / "project")
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LAUNCH.encode())))
    if "silences what is old" in row["feature"]:
        assert cli(capsys, "baseline")[0] == 0

    code, out, err = cli(capsys, *shlex.split(row["call"]))

    assert code == int(row["exit"]), out + err
    assert row["shows"] in out + err
