"""The file that every Python process imports first: where it is found, what switches it has, when a plan says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.smoke.startup import switches
from helpers import Write
from smoke.planned import PPO, planned

LAUNCHER = PPO.replace("set -eu\n", 'set -eu\nexport PYTHONPATH="${LITE_ROOT:-/none}/verl:${PYTHONPATH:-}"\n')
SFT = """\
#!/usr/bin/env bash
set -eu
export PYTHONPATH="${LITE_ROOT:-/none}/verl"
torchrun --nnodes=1 --nproc_per_node=1 -m verl.trainer.sft_trainer \\
    data.train_files=x.parquet data.train_batch_size=8 model.path=Qwen/Qwen3-8B engine=fsdp \\
    trainer.logger='["console"]' trainer.nnodes=1 trainer.n_gpus_per_node=1 "$@"
"""
HOOK = """\
import os
if os.environ.get("SKIP_PATCHES") != "1" and os.getenv("PATCH") and "OFF" not in os.environ and os.environ["MODE"]:
    import vllm
"""


def script(write: Write, text: str) -> Path:
    return write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""}) / "run_qwen3_8b_fsdp.sh"


@pytest.fixture
def hooked(tmp_path: Path) -> Path:
    (tmp_path / "lite/verl").mkdir(parents=True)
    (tmp_path / "lite/verl/sitecustomize.py").write_text(HOOK)
    return tmp_path / "lite"


def test_nothing_is_said_where_there_is_no_such_file(write: Write) -> None:
    assert planned(script(write, LAUNCHER)).notes == ()


def test_the_plan_of_a_run_with_ray_names_the_file_and_its_switches(write: Write, hooked: Path) -> None:
    (note,) = planned(script(write, LAUNCHER), settings={"LITE_ROOT": str(hooked)}).notes

    assert note.startswith(f"{hooked}/verl/sitecustomize.py is on PYTHONPATH, so every Python process")
    assert note.endswith("; from the environment it reads SKIP_PATCHES, PATCH, OFF, MODE")


def test_the_path_of_this_process_counts_too(write: Write, hooked: Path) -> None:
    (note,) = planned(script(write, PPO), host={"PYTHONPATH": f"/none::{hooked}/verl"}).notes

    assert note.startswith(f"{hooked}/verl/sitecustomize.py")


@pytest.mark.parametrize("word", ["$PWD/hooks", "hooks", "./hooks"])
def test_a_folder_of_the_project_is_found(write: Write, word: str) -> None:
    path = script(write, PPO.replace("set -eu\n", f'set -eu\nexport PYTHONPATH="{word}"\n'))
    (path.parent / "hooks").mkdir()
    (path.parent / "hooks/sitecustomize.py").write_text("import vllm\n")
    (note,) = planned(path).notes

    assert "hooks/sitecustomize.py is on PYTHONPATH" in note
    assert "reads" not in note


def test_a_run_without_ray_starts_no_agents(write: Write, hooked: Path) -> None:
    assert planned(script(write, SFT), family="qwen3", settings={"LITE_ROOT": str(hooked)}).notes == ()


@pytest.mark.parametrize("text", ["print 'two'", "\x00", "import os\nos.environ.get(name)\n" + "(" * 5000])
def test_what_cannot_be_read_has_no_switches(tmp_path: Path, text: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(text)

    assert switches(tmp_path / "sitecustomize.py") == []
    assert switches(tmp_path) == []
