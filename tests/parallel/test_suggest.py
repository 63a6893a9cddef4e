"""The smallest change: one size, then the world, then two sizes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.parallel.backends import megatron, megatron_lite
from example_sanity.parallel.mesh import Backend
from example_sanity.parallel.suggest import suggest

LITE, CORE = megatron_lite.ACTOR_BACKEND, megatron.ACTOR_BACKEND


def changes(backend: Backend, **sizes: int) -> dict[str, int | None]:
    found = suggest(backend, sizes)
    assert found is not None
    return dict(found.changes)


def test_powers_of_two_come_first() -> None:
    assert changes(LITE, world=96, pp=4, ep=8, cp=16) == {"cp": 8}


def test_other_sizes_are_used_where_the_world_needs_them() -> None:
    assert changes(LITE, world=9, pp=2, cp=9) == {"pp": 1}
    assert changes(LITE, world=21, tp=3, etp=3, pp=7, cp=14) == {"cp": 1}
    assert changes(LITE, world=15, pp=3, cp=10, ep=5) == {"cp": 1}
    assert changes(LITE, world=15, tp=5, pp=10, ep=5) == {"pp": 1}
    assert changes(LITE, world=7, nnodes=1, gpn=7, pp=2) == {"pp": 1}


def test_the_world_is_changed_before_two_sizes_and_in_whole_nodes() -> None:
    sizes = {"world": 8, "tp": 8, "etp": 8, "pp": 2, "cp": 2, "ep": 2}
    assert changes(LITE, **sizes) == {"world": 32}
    assert changes(LITE, world=18, etp=4, ep=4) == {"world": 32}
    assert changes(LITE, world=18, nnodes=3, gpn=6, etp=4, ep=4) == {"world": 48}


def test_two_sizes_are_changed_before_the_world_grows_more_than_four_times() -> None:
    assert changes(LITE, world=8, nnodes=1, gpn=8, etp=3, ep=3) == {"ep": 2, "etp": 4}


def test_a_size_that_follows_another_one_is_set() -> None:
    assert changes(CORE, world=64, tp=8, ep=16) == {"etp": 1}


SIZE = st.sampled_from([1, 2, 3, 4, 5, 8, 16])


@given(
    backend=st.sampled_from([LITE, CORE]),
    world=st.integers(1, 64),
    sizes=st.fixed_dictionaries(dict.fromkeys(("tp", "pp", "cp", "ep"), SIZE), optional={"etp": SIZE}),
)
@settings(deadline=None)
def test_a_suggestion_is_legal_and_no_single_change_is_overlooked(
    backend: Backend, world: int, sizes: dict[str, int]
) -> None:
    start = {**sizes, "world": world}
    if not backend.violated(backend.complete(start)):
        return
    found = suggest(backend, start)
    assert found is not None
    changed = {**start, **{symbol: size for symbol, size in found.changes if size is not None}}
    complete = backend.complete(changed)
    assert backend.violated(complete) == []
    assert found.derived == {
        "dp": complete["world"] // (complete["tp"] * complete["cp"] * complete["pp"]),
        "edp": complete["world"] // (complete["etp"] * complete["ep"] * complete["pp"]),
    }
    if len(found.changes) > 1 or found.changes[0][0] == "world":
        singles = ({**start, name: size} for name in ("tp", "pp", "cp", "ep", "etp") for size in range(1, 65))
        assert all(backend.violated(backend.complete(single)) for single in singles)


def test_nothing_to_suggest_without_ranks() -> None:
    assert suggest(LITE, {"world": 0}) is None
