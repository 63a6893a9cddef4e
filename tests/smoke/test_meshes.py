"""Scaled meshes: legal whatever the launcher has, never larger, and the same each time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from example_sanity.parallel.backends import meshes
from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.meshes import AXES, obstacle, scale

_SIZE = st.sampled_from((1, 2, 3, 4, 6, 8, 16))
_WORLD = {"trainer.nnodes": 64, "trainer.n_gpus_per_node": 8}


def _mesh(**sizes: int) -> Mesh:
    engine = {f"actor_rollout_ref.actor.engine.{name}": size for name, size in sizes.items()}
    (mesh,) = meshes({"actor@actor_rollout_ref.actor": "mlite_actor", **_WORLD, **engine})
    return mesh


def _no_numbers(_: Sizes) -> Sizes:
    return {}


@given(tp=_SIZE, pp=_SIZE, cp=_SIZE, ep=_SIZE, gpus=st.sampled_from((1, 2, 3, 4, 6, 8, 16)))
def test_a_scaled_mesh_is_legal_and_not_larger(tp: int, pp: int, cp: int, ep: int, gpus: int) -> None:
    mesh = _mesh(tp=tp, pp=pp, cp=cp, ep=ep, etp=1)
    found = scale(mesh, gpus, _no_numbers, {})

    assert found is not None
    assert found.sizes["world"] == gpus
    sizes = {symbol: found.sizes[symbol] for symbol in ("tp", "pp", "cp", "ep", "etp")}
    assert all(mesh.given[symbol] % size == 0 for symbol, size in sizes.items())
    assert gpus % (sizes["tp"] * sizes["cp"] * sizes["pp"]) == 0
    assert gpus % (sizes["etp"] * sizes["ep"] * sizes["pp"]) == 0
    assert found == scale(mesh, gpus, _no_numbers, {})


def test_as_many_axes_as_possible_stay_above_one() -> None:
    mesh = _mesh(tp=1, pp=4, cp=4, ep=8)

    for gpus, kept in ((1, 0), (2, 2), (4, 3), (8, 3)):
        found = scale(mesh, gpus, _no_numbers, {})
        assert found is not None
        assert sum(found.sizes.get(symbol, 1) > 1 for symbol in AXES) == kept
    assert scale(mesh, 8, _no_numbers, {}).derived == {"dp": 2, "edp": 2}  # type: ignore[union-attr]


def test_what_is_fixed_stays_or_is_the_obstacle() -> None:
    mesh = _mesh(tp=2, cp=4, ep=8)
    found = scale(mesh, 8, _no_numbers, {"cp": 4})

    assert found is not None
    assert found.sizes["cp"] == 4
    assert scale(mesh, 2, _no_numbers, {"cp": 4}) is None
    assert obstacle(mesh, 2, _no_numbers, {"cp": 4}) == "2 GPUs cannot hold tp1·cp4·pp1 = 4"
