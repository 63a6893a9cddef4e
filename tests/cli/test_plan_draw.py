"""``plan --draw``: the grids of ranks below the mesh."""

from __future__ import annotations

import json

import pytest

from helpers import Write, cli

LAUNCHER = {
    "run_a_megatron_lite.sh": (
        "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=mlite_actor \\\n"
        "    actor_rollout_ref.actor.engine.cp=${CP:-4}\n"
    )
}


def test_draw_adds_the_grids(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(write(LAUNCHER) / "run_a_megatron_lite.sh")

    code, plain, _ = cli(capsys, "plan", script)
    drawn = cli(capsys, "plan", script, "--draw")[1]

    assert code == 0
    assert "groups of" not in plain
    assert (
        "\n    cp: 2 groups of 4, each within a node; rank 0 with 1-3\n      0 | 0 0 0 0 1 1 1 1\n" in drawn
    )
    assert "    edp: 1 group of 8, each within a node; rank 0 with 1-7" in drawn


def test_an_illegal_mesh_has_no_grids(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(write(LAUNCHER) / "run_a_megatron_lite.sh")

    code, out, _ = cli(capsys, "plan", script, "--draw", "-e", "CP=3")
    data = json.loads(cli(capsys, "plan", script, "--draw", "-e", "CP=3", "--format", "json")[1])

    assert code == 1
    assert "groups of" not in out
    assert all("drawing" not in item for item in data["plans"])
