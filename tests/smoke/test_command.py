"""The command up to the run: plans as text and JSON, wrong calls, refusals, and the files of a plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from example_sanity.doctor import gpus as machine
from example_sanity.doctor.gpus import Gpus
from example_sanity.smoke import data, preparing
from example_sanity.smoke.checkpoints import store
from helpers import Write, cli
from smoke.planned import HOME, ROOT, planned

SFT = "examples/sft/gsm8k/run_deepseek_v4_megatron_lite.sh"
SMALL = """\
MODEL_PATH=${MODEL_PATH:-Qwen/Qwen3-8B}
GPUS=${GPUS:-8}
torchrun --standalone --nproc_per_node=$GPUS -m verl.trainer.sft_trainer model.path=$MODEL_PATH engine=fsdp "$@"
"""
NAME = "run_qwen3_8b_fsdp.sh"


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of the tests has two GPUs, unless a test says otherwise."""
    monkeypatch.setattr(machine, "visible", lambda: Gpus(("NVIDIA H200",) * 2))


@pytest.fixture
def script(write: Write, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("MODEL_PATH", "GPUS"):
        monkeypatch.delenv(name, raising=False)
    return str(write({NAME: SMALL, "example-sanity.toml": ""}) / NAME)


def test_a_plan_says_what_changes_and_why(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = cli(
        capsys, "smoke", script, "--plan", "--folder", "/smoke", "--set", "data.num_workers=2"
    )
    checkpoint = planned(script, 2).environment["MODEL_PATH"]
    last = out.splitlines()[-1]

    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        f"{NAME}: supervised fine-tuning with fsdp on 2 GPUs, 4 optimizer steps of a tiny qwen3"
    )
    assert "  GPUS=2" in out
    assert "one rank a GPU (was 8)" in out
    assert f"  MODEL_PATH={checkpoint}  a tiny random checkpoint (was Qwen/Qwen3-8B)" in out
    assert "  data.num_workers=2" in out
    assert last.startswith(
        f"env GPUS=2 MODEL_PATH={checkpoint} bash {NAME} data.num_workers=2 data.train_batch_size=8 "
    )


def test_a_plan_as_json_has_the_whole_plan(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(
        capsys,
        "smoke",
        script,
        "--plan",
        "--format",
        "json",
        "--gpus",
        "4",
        "--steps",
        "3",
        "--folder",
        "/smoke",
    )
    found = json.loads(out)

    assert (code, found["version"], found["script"], found["gpus"], found["steps"]) == (0, 1, NAME, 4, 3)
    assert found["environment"]["GPUS"] == "4"
    assert found["config"]["model_type"] == "qwen3"
    change = next(item for item in found["changes"] if item["name"] == "trainer.total_training_steps")
    assert change == {
        "name": "trainer.total_training_steps",
        "value": "3",
        "was": None,
        "why": "enough to see that it learns",
        "kind": "override",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--family", "qwen"), "--family qwen: no such family (did you mean 'qwen2'?)"),
        (("--set", "GPUS"), "'GPUS' is not NAME=VALUE"),
        (("--set", "GPU=1"), "has no such knob (did you mean 'GPUS'?)"),
        (("--gpus", "0"), "Invalid value for '--gpus'"),
        (("--format", "junit"), "a plan is written as text or json"),
    ],
)
def test_wrong_calls_are_2(
    script: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = cli(capsys, "smoke", script, "--plan", *arguments)

    assert (code, out) == (2, "")
    assert message in err


def test_a_refusal_is_2_with_the_line(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({NAME: SMALL.replace("$GPUS -m", "8 -m"), "example-sanity.toml": ""})
    code, out, err = cli(capsys, "smoke", str(root / NAME), "--plan")

    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {NAME}:3: torchrun --nproc_per_node is 8 and has to be 2 (one rank a GPU)")


def test_without_a_gpu_their_number_has_to_be_said(
    script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "visible", lambda: Gpus(problem="no nvidia-smi on this machine"))
    monkeypatch.setitem(sys.modules, "torch", None)

    code, _, err = cli(capsys, "smoke", script, "--plan")
    assert (code, err) == (
        2,
        "Error: no GPU to run on: no nvidia-smi on this machine; say for how many with --gpus\n",
    )
    assert cli(capsys, "smoke", script, "--plan", "--gpus", "1")[0] == 0


def test_without_nvidia_smi_torch_counts_the_gpus(
    script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(device_count=lambda: 4))
    monkeypatch.setattr(machine, "visible", lambda: Gpus(problem="no nvidia-smi on this machine"))
    monkeypatch.setitem(sys.modules, "torch", torch)

    code, out, _ = cli(capsys, "smoke", script, "--plan", "--format", "json")
    assert (code, json.loads(out)["gpus"]) == (0, 4)


def test_preparing_makes_the_files_that_the_plan_names(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store, "make", lambda path, config: path.mkdir(parents=True))
    folder = tmp_path / "files"
    code, out, _ = cli(capsys, "smoke", script, "--prepare", "--format", "json", "--folder", str(folder))
    found = json.loads(out)

    assert code == 0
    assert found["checkpoint"] == found["environment"]["MODEL_PATH"]
    assert Path(found["checkpoint"]).is_dir()
    assert f"data.train_files={found['data'][0]}" in found["arguments"]
    assert all(Path(path).is_file() for path in found["data"])


def test_a_folder_that_cannot_be_made_is_a_wrong_call(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store, "make", lambda path, config: path.mkdir(parents=True))
    (tmp_path / "taken").write_text("")
    code, _, err = cli(capsys, "smoke", script, "--prepare", "--folder", str(tmp_path / "taken"))

    assert code == 2
    assert f"cannot write {tmp_path}/taken" in err
    assert "choose another place with --folder" in err


def test_a_checkpoint_of_the_users_own_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr(store, "make", lambda path, config: made.append(path))
    monkeypatch.setattr(data, "write", lambda place, kind: data.paths(place))
    plan = planned(SFT, settings={"MODEL_PATH": str(tmp_path)}, family="deepseek_v4")

    assert preparing.prepare(plan).checkpoint == tmp_path
    assert made == []
    assert preparing.prepare(planned(SFT)).checkpoint == made[0]


def test_real_bash_tells_the_program_what_was_planned(tmp_path: Path) -> None:
    """The launcher is one of ours, and what it starts is a stub that writes its words down."""
    stub = tmp_path / "bin" / "torchrun"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', "utf-8")
    stub.chmod(0o755)
    plan = planned(SFT, 4, {"OPTIMIZER": "dist_opt"})
    environment = {"HOME": str(tmp_path), "PATH": f"{stub.parent}:{os.defpath}", **plan.environment}
    done = subprocess.run(
        ["bash", plan.script, *plan.arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.splitlines()

    assert (
        "MLITE_MESH model=deepseek_v4_flash ngpu=4 pp=2 tp=1 cp=2 dp=1 ep=2 etp=1 edp=1 optimizer=dist_opt"
        in words
    )
    assert {"--nnodes=1", "--nproc_per_node=4", "engine.pp=2", "engine.ep=2", "engine.cp=2"} <= set(words)
    assert f"model.path={plan.environment['MODEL_PATH']}" in words
    assert words[-3:] == [
        "trainer.total_training_steps=4",
        "trainer.resume_mode=disable",
        f"trainer.default_local_dir={HOME}/out",
    ]
