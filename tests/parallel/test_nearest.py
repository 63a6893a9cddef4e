"""The nearest legal sizes for a number of GPUs."""

from __future__ import annotations

from example_sanity.parallel.backends import plans
from example_sanity.parallel.mesh import Mesh
from example_sanity.parallel.nearest import nearest

ACTOR = "actor_rollout_ref.actor.engine"


def _mesh(**sizes: int) -> Mesh:
    settings = {"actor@actor_rollout_ref.actor": "mlite_actor", "trainer.nnodes": 1}
    (mesh,) = plans({**settings, **{f"{ACTOR}.{symbol}": size for symbol, size in sizes.items()}})
    return mesh


def test_sizes_that_fit_stay_as_they_are() -> None:
    (first, *_) = nearest(_mesh(cp=4, pp=2), 64)
    assert (first.changed, first.mesh.derived["dp"]) == ({}, 8)


def test_one_change_comes_before_two_and_a_larger_dp_first() -> None:
    found = nearest(_mesh(cp=8, pp=2), 8)
    assert [choice.changed for choice in found[:2]] == [{"cp": 1}, {"cp": 2}]
    assert all(choice.mesh.legal for choice in found)
    assert len(found) == 5


def test_tensor_parallel_within_a_node_comes_first() -> None:
    found = nearest(_mesh(tp=16, cp=3), 64, 8, limit=50)
    within = [choice.mesh.sizes["tp"] <= 8 for choice in found if len(choice.changed) == 2]
    assert within == sorted(within, reverse=True)
    assert True in within


def test_512_gpus_and_a_batch_that_must_divide() -> None:
    for choice in nearest(_mesh(cp=8, pp=8, ep=8), 512, 8):
        assert choice.mesh.legal
        assert choice.mesh.sizes["nnodes"] == 64
