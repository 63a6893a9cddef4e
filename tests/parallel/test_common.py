"""What holds for every backend: the GPUs that the launcher has, and tensor parallel ranks on one node."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from example_sanity.core.finding import Severity
from example_sanity.parallel.backends import plans
from example_sanity.parallel.mesh import Mesh

TP = "tensor-model-parallel-size"


def plan(settings: Mapping[str, object], world: int | None = None, **machine: int) -> Mesh:
    (mesh,) = plans(settings, "train.py", world, machine=machine)
    return mesh


def told(mesh: Mesh) -> list[tuple[str, str]]:
    return [(violation.constraint.id, violation.message) for violation in mesh.violations]


def test_tensor_parallel_within_a_node_is_silent() -> None:
    assert told(plan({TP: 8}, 64, gpn=8)) == []
    assert told(plan({TP: 16}, 16, gpn=16)) == []
    assert told(plan({TP: 16}, 64)) == []


@pytest.mark.parametrize(("tp", "gpn", "change"), [(16, 8, "TP=8"), (4, 6, "TP=2"), (8, 4, "TP=4")])
def test_tensor_parallel_across_nodes_is_slow(tp: int, gpn: int, change: str) -> None:
    mesh = plan({TP: tp}, 48, gpn=gpn)
    assert told(mesh) == [
        ("XN-01", f"tensor parallel groups of tp{tp} span nodes of {gpn} GPUs; with {change} it fits")
    ]
    assert mesh.violations[0].constraint.severity is Severity.WARNING
    assert mesh.legal


def test_the_gpus_of_a_node_from_the_trainers_settings() -> None:
    sizes = {"actor-num-nodes": 4, "actor-num-gpus-per-node": 4, TP: 8}
    assert [number for number, _ in told(plan(sizes))] == ["XN-01"]


SLIME = {"actor-num-nodes": 2, "actor-num-gpus-per-node": 8, "rollout-num-gpus": 16}
SKYRL = {
    "trainer.placement.policy_num_gpus_per_node": 4,
    "trainer.placement.ref_num_gpus_per_node": 4,
    "generator.inference_engine.num_engines": 4,
}
OPENRLHF = {"actor.num_gpus_per_node": 4, "vllm.num_engines": 4}


@pytest.mark.parametrize(
    ("settings", "program", "enough"),
    [
        ({"trainer.nnodes": 2, "actor_rollout_ref.rollout.n": 5}, "verl.trainer.main_ppo", 16),
        (SLIME, "train.py", 32),
        ({**SLIME, "colocate": True}, "train.py", 16),
        (SKYRL, "skyrl.train", 4),
        ({**SKYRL, "trainer.placement.colocate_all": False}, "skyrl.train", 8),
        (OPENRLHF, "openrlhf.cli.train_ppo_ray", 8),
        ({**OPENRLHF, "train.colocate_all": True}, "openrlhf.cli.train_ppo_ray", 4),
    ],
)
def test_the_launcher_has_the_gpus_that_the_settings_ask_for(
    settings: dict[str, object], program: str, enough: int
) -> None:
    def codes(launched: int) -> list[str]:
        (mesh,) = plans(settings, program, machine={"launched": launched})
        return [violation.constraint.code for violation in mesh.violations]

    assert "MSH010" not in codes(enough)
    assert "MSH010" in codes(enough - 1)


def test_what_is_missing_is_said() -> None:
    (violation,) = plan({**SLIME, "colocate": True}, launched=8).violations
    assert violation.problem == "the launcher has 8 GPUs, but the settings ask for 16"


def test_reserved_gpus_without_a_rank_are_wasted() -> None:
    assert told(plan({TP: 8}, 32, reserved=32)) == []
    mesh = plan({TP: 8}, 16, reserved=32)
    assert told(mesh) == [("RA-02", "32 GPUs are reserved, but only 16 of them get a rank")]
    assert mesh.legal


@pytest.mark.parametrize(("gpus", "found"), [(8, []), (16, []), (4, ["RA-03"])])
def test_the_gpus_that_a_node_of_ray_has(gpus: int, found: list[str]) -> None:
    mesh = plan({**SLIME, "colocate": True}, ray_gpus=gpus)

    assert [number for number, _ in told(mesh)] == found


def test_ranks_that_no_ray_places_are_not_compared_with_it() -> None:
    assert told(plan({TP: 8}, 8, gpn=8, ray_gpus=4)) == []
