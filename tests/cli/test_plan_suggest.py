"""``plan --suggest``: the nearest legal sizes as text and JSON."""

from __future__ import annotations

import json

import pytest

from example_sanity.report.suggestions import suggestion_lines
from helpers import Write, cli
from mesh.launchers import KNOBS, LAUNCH, PATH


def test_the_nearest_sizes_for_a_number_of_gpus(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({PATH: KNOBS.replace("PP:-1", "PP:-3") + LAUNCH})

    code, out, _ = cli(capsys, "plan", str(root / PATH), "--suggest", "--gpus", "64", "--gpus-per-node", "8")
    assert code == 1
    assert "    nearest legal sizes:\n      64 GPUs, PP=1: dp 8, edp 8\n" in out

    _, out, _ = cli(capsys, "plan", str(root / PATH), "--suggest", "--gpus", "64", "--format", "json")
    first = json.loads(out)["plans"][0]["suggestions"][0]
    assert first == {"changed": {"PP": 1}, "world": 64, "derived": {"dp": 8, "edp": 8}}


def test_gpus_without_suggest_are_an_error(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({PATH: KNOBS + LAUNCH})

    code, _, err = cli(capsys, "plan", str(root / PATH), "--gpus", "8")
    assert code == 2
    assert "--suggest, which says 'nothing changed' where the mesh is legal as it is" in err
    assert "suggestions" not in cli(capsys, "plan", str(root / PATH), "--format", "json")[1]


def test_what_no_size_repairs_is_said_to_lie_elsewhere() -> None:
    assert list(suggestion_lines([])) == [
        "    no change of two sizes is legal; rollout, batch and model are left as they are"
    ]


def test_without_a_gpu_nothing_is_suggested(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    words = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 trainer.n_gpus_per_node=0"
    text = f"python3 -m verl.trainer.main_ppo model_engine=megatron {words}\n"

    code, out, _ = cli(capsys, "plan", str(write({PATH: text}) / PATH), "--suggest")

    assert code == 1
    assert "no change of two sizes is legal" in out


def test_the_guard_is_proved_where_no_sizes_are_asked_for(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    guard = "if ((NNODES * 8 % (TP * PP) != 0)); then exit 1; fi\n"
    path = str(write({PATH: KNOBS + guard + LAUNCH}) / PATH)

    assert json.loads(cli(capsys, "plan", path, "--format", "json")[1])["plans"][0]["guard"]["tried"] > 0
    asked = json.loads(cli(capsys, "plan", path, "--suggest", "--format", "json")[1])["plans"][0]
    assert asked["guard"] is None
    assert asked["suggestions"]
