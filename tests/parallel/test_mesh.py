"""The algebra against an independent enumeration of ranks, and its messages."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from example_sanity.core.finding import Severity
from example_sanity.parallel.backends import BACKENDS, megatron, megatron_lite
from example_sanity.parallel.mesh import Backend, Constraint, Mesh, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

LITE, CORE = megatron_lite.ACTOR_BACKEND, megatron.ACTOR_BACKEND


COLUMNS = ("world", "tp", "pp", "ep", "cp", "etp")


def mesh(backend: Backend, *sizes: int) -> Mesh:
    """Make a mesh of sizes in the order of COLUMNS; etp may be left out."""
    return Mesh(backend, dict(zip(COLUMNS, sizes, strict=False)), {})


def messages(subject: Mesh) -> list[str]:
    return [violation.message for violation in subject.violations]


# A mesh by enumeration: rank r has the coordinates that the r-th step of nested loops has. No division involved.


def box(world: int, loops: Sequence[int]) -> list[tuple[int, ...]] | None:
    """Return the coordinates of every rank for loops given outermost first, with -1 for the one to be found."""
    for free in range(1, world + 1):
        lengths = [free if length == -1 else length for length in loops]
        coordinates = list(itertools.product(*(range(length) for length in lengths)))
        if len(coordinates) == world:
            return coordinates
        if len(coordinates) > world:
            return None
    return None


def groups(coordinates: list[tuple[int, ...]], axis: int) -> list[list[int]]:
    """Return the ranks that differ only along ``axis``."""
    found: dict[tuple[int, ...], list[int]] = {}
    for rank, place in enumerate(coordinates):
        found.setdefault(place[:axis] + place[axis + 1 :], []).append(rank)
    return list(found.values())


def assert_partition(kind: list[list[int]], world: int, size: int) -> None:
    assert sorted(rank for group in kind for rank in group) == list(range(world))
    assert {len(group) for group in kind} == {size}


def assert_agrees(subject: Mesh) -> None:
    sizes, world = subject.sizes, subject.sizes["world"]
    dense = box(world, (sizes["pp"], -1, sizes["cp"], sizes["tp"]))
    expert = box(world, (sizes["pp"], -1, sizes["ep"], sizes["etp"]))
    assert subject.legal == (dense is not None and expert is not None)
    assert subject.legal == (not subject.violations)
    if dense is not None:
        for axis, symbol in enumerate(("pp", "dp", "cp", "tp")):
            assert_partition(groups(dense, axis), world, {**sizes, **subject.derived}[symbol])
    if expert is not None:
        for axis, symbol in enumerate(("pp", "edp", "ep", "etp")):
            assert_partition(groups(expert, axis), world, {**sizes, **subject.derived}[symbol])
    if dense is not None and expert is not None:
        assert groups(dense, 0) == groups(expert, 0)


SIZE = st.sampled_from([1, 2, 3, 4, 6, 8])
BOTH = st.sampled_from([LITE, CORE])


@given(backend=BOTH, sizes=st.tuples(st.integers(1, 96), SIZE, SIZE, SIZE, SIZE))
@settings(deadline=None)
def test_any_mesh_agrees_with_the_ranks(backend: Backend, sizes: tuple[int, ...]) -> None:
    assert_agrees(mesh(backend, *sizes))


@given(backend=BOTH, sizes=st.tuples(st.integers(1, 96), SIZE, SIZE, SIZE, SIZE, SIZE))
@settings(deadline=None)
def test_any_mesh_with_etp_agrees_with_the_ranks(backend: Backend, sizes: tuple[int, ...]) -> None:
    assert_agrees(mesh(backend, *sizes))


@given(backend=BOTH, dp=st.integers(1, 8), sizes=st.tuples(SIZE, SIZE, SIZE, SIZE, SIZE))
@settings(deadline=None)
def test_a_legal_dense_part_agrees_with_the_ranks(backend: Backend, dp: int, sizes: tuple[int, ...]) -> None:
    # Random sizes are rarely legal; these are in the dense part, and often in the expert part too.
    tp, pp, _, cp, _ = sizes
    world = tp * pp * cp * dp
    assume(world <= 192)
    subject = mesh(backend, world, *sizes)
    assert subject.derived["dp"] == dp
    assert_agrees(subject)


LEGAL = [
    # The launchers' defaults and what is right though not the default.
    ((256, 1, 8, 8, 8, 1), 4, 4),
    ((8, 1, 1, 8, 8, 1), 1, 1),
    ((256, 2, 8, 8, 8, 1), 2, 4),
    # What a guard with EP in the place of CP rejects.
    ((256, 4, 8, 32, 1, 1), 8, 1),
    ((8, 2, 1, 8, 1, 1), 4, 1),
    ((8, 2, 1, 8, 4, 1), 1, 1),
    ((256, 2, 8, 32, 8, 1), 2, 1),
    # What such a guard accepts, with another DP.
    ((256, 1, 8, 8, 4, 1), 8, 4),
    ((256, 1, 8, 8, 1, 1), 32, 4),
    ((256, 1, 8, 16, 8, 1), 4, 2),
    ((256, 1, 8, 32, 8, 1), 4, 1),
    ((8, 1, 1, 8, 2, 1), 4, 1),
    ((8, 1, 1, 8, 1, 1), 8, 1),
    ((8, 1, 1, 4, 8, 1), 1, 2),
    # A mesh that is legal and still no good at the first update.
    ((192, 1, 8, 8, 8, 1), 3, 3),
    # DeepSeek-V4: GRPO on 32 GPUs, SFT flash and pro.
    ((32, 1, 4, 8, 4, 1), 2, 1),
    ((128, 1, 4, 8, 4, 1), 8, 4),
    ((512, 1, 8, 16, 4, 1), 16, 4),
]


@pytest.mark.parametrize(("sizes", "dp", "edp"), LEGAL)
@pytest.mark.parametrize("backend", [LITE, CORE], ids=lambda backend: backend.name)
def test_legal_meshes_are_silent(backend: Backend, sizes: tuple[int, ...], dp: int, edp: int) -> None:
    subject = mesh(backend, *sizes)
    assert messages(subject) == []
    assert subject.derived == {"dp": dp, "edp": edp}


ILLEGAL = [
    ((8, 1, 2, 4, 8, 1), "8 GPUs cannot hold tp1·cp8·pp2 = 16; with CP=4 it fits, dp=1"),
    ((64, 1, 8, 8, 16, 1), "64 GPUs cannot hold tp1·cp16·pp8 = 128; with CP=8 it fits, dp=1"),
    (
        (96, 1, 4, 8, 16, 1),
        "96 GPUs do not divide into tp1·cp16·pp4 = 64 (32 left over); with CP=8 it fits, dp=3",
    ),
    ((256, 2, 8, 8, 32, 1), "256 GPUs cannot hold tp2·cp32·pp8 = 512; with CP=16 it fits, dp=1"),
    ((128, 1, 32, 4, 8, 1), "128 GPUs cannot hold tp1·cp8·pp32 = 256; with CP=4 it fits, dp=1"),
    ((12, 1, 1, 4, 16, 1), "12 GPUs cannot hold tp1·cp16·pp1 = 16; with CP=4 it fits, dp=3"),
    (
        (24, 1, 1, 8, 16, 1),
        "24 GPUs do not divide into tp1·cp16·pp1 = 16 (8 left over); with CP=8 it fits, dp=3",
    ),
]


@pytest.mark.parametrize(("sizes", "message"), ILLEGAL)
@pytest.mark.parametrize("backend", [LITE, CORE], ids=lambda backend: backend.name)
def test_illegal_meshes_say_what_would_fit(backend: Backend, sizes: tuple[int, ...], message: str) -> None:
    subject = mesh(backend, *sizes)
    assert messages(subject) == [message]
    assert [violation.constraint.code for violation in subject.violations] == ["MSH001"]
    assert "dp" not in subject.derived


def test_a_launcher_that_fails_as_shipped_breaks_both_parts() -> None:
    subject = mesh(LITE, 8, 1, 4, 8, 4)
    assert messages(subject) == [
        "8 GPUs cannot hold tp1·cp4·pp4 = 16; with PP=1 it fits, dp=2",
        "8 GPUs cannot hold etp1·ep8·pp4 = 32; with PP=1 it fits, edp=1",
    ]
    assert [violation.constraint.code for violation in subject.violations] == ["MSH001", "MSH002"]


def test_the_expert_mesh_alone_can_be_wrong() -> None:
    assert messages(mesh(LITE, 64, 1, 4, 32, 1)) == [
        "64 GPUs cannot hold etp1·ep32·pp4 = 128; with EP=16 it fits, edp=1"
    ]


def test_too_few_ranks_fail_earlier_than_ranks_left_over() -> None:
    too_few, left_over = mesh(LITE, 8, 1, 2, 4, 8), mesh(LITE, 96, 1, 4, 8, 16)
    outcomes = [violation.constraint.outcome for violation in too_few.violations + left_over.violations]
    assert outcomes == [
        "ZeroDivisionError when the ranks build the mesh",
        "ValueError when the ranks build the mesh",
    ]
    assert [v.constraint.id for v in too_few.violations + left_over.violations] == ["ML-23", "ML-01"]


def test_expert_tensor_parallel_left_out_is_one_in_lite_and_tp_in_core() -> None:
    assert messages(mesh(LITE, 64, 8, 1, 16, 1)) == []
    assert messages(mesh(CORE, 64, 8, 1, 16, 1)) == [
        "64 GPUs cannot hold etp8·ep16·pp1 = 128 (etp is unset and follows tp); with ETP=1 it fits, edp=4"
    ]


def test_virtual_stages() -> None:
    sizes = {"world": 8, "pp": 2, "vpp": 2}
    assert messages(Mesh(CORE, sizes, {})) == []
    assert messages(Mesh(LITE, sizes, {})) == [
        "vpp = 2, but Megatron Lite has no virtual pipeline stages; with VPP=1 it fits"
    ]
    assert messages(Mesh(CORE, {"world": 8, "vpp": 2}, {})) == [
        "vpp = 2 needs more than one pipeline stage, but pp = 1; with VPP unset it fits"
    ]


@pytest.mark.parametrize("size", [0, -4])
@pytest.mark.parametrize("backend", [LITE, CORE], ids=lambda backend: backend.name)
def test_a_size_below_one_is_said(backend: Backend, size: int) -> None:
    assert messages(mesh(backend, 8, 1, 1, 8, size)) == [
        f"cp = {size}, but a size is at least 1; with CP=1 it fits, dp=8"
    ]


def test_no_ranks_at_all_have_no_suggestion() -> None:
    assert messages(Mesh(CORE, {"world": 0}, {})) == ["world = 0, but a size is at least 1"]


def test_names_of_the_launcher_replace_symbols() -> None:
    (violation,) = mesh(LITE, 8, 1, 2, 4, 8).violations
    assert violation.text({"cp": "ACTOR_CP"}).endswith("with ACTOR_CP=4 it fits, dp=1")
    dense, _ = mesh(LITE, 8, 8, 2, 2, 2, 8).violations
    assert dense.message.endswith("with 32 GPUs it fits, dp=1")
    assert dense.text({"world": "NGPU"}).endswith("with NGPU=32 it fits, dp=1")


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (8, 8),
        ("8", 8),
        (" 16 ", 16),
        ("-1", -1),
        (True, None),
        (8.0, None),
        ("8.0", None),
        ("${oc.env:TP}", None),
        ("", None),
        (None, None),
        ([8], None),
    ],
)
def test_whole_number(value: object, size: int | None) -> None:
    assert whole_number(value) == size


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: f"{backend.name}-{backend.role}")
def test_every_constraint_is_documented(backend: Backend) -> None:
    def complete(rule: Constraint) -> bool:
        told = rule.raises or rule.effect in ("hang", "silent", "slow", "wasteful")
        return all((rule.id, rule.formula, rule.source, told, rule.symbols))

    assert [rule.id for rule in backend.constraints if not complete(rule)] == []
    assert {rule.code for rule in backend.constraints} <= CODES
    assert len({rule.id for rule in backend.constraints}) == len(backend.constraints)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: f"{backend.name}-{backend.role}")
def test_rank_orders_name_every_part_once(backend: Backend) -> None:
    for split in backend.splits:
        assert sorted(split.order) == sorted((*split.parts, split.derived))


CODES = {f"MSH{number:03}" for number in (1, 2, 6, 7, 8, 9, 10, 11, 12)}
CODES |= {f"BAT{number:03}" for number in range(1, 11)}


def outcome(effect: str, stage: str) -> tuple[Severity, str]:
    rule = replace(LITE.constraints[0], effect=effect, stage=stage, raises="")
    return rule.severity, rule.outcome


def test_severity_and_outcome_follow_effect_and_stage() -> None:
    assert outcome("silent", "cfg") == (
        Severity.WARNING,
        "no message in the driver, before any worker starts",
    )
    assert outcome("silent", "step1") == (Severity.ERROR, "no message at the first update")
    assert outcome("hang", "init") == (Severity.ERROR, "a hang when the ranks build the mesh")
    assert outcome("assertion", "model") == (Severity.ERROR, "AssertionError when the model is built")


def test_a_repair_is_searched_once_for_equal_meshes_and_again_for_one_with_other_keys() -> None:
    given = {"world": 8, "tp": 1, "pp": 2, "cp": 8, "ep": 1, "etp": 1, "vpp": 1}
    first, same = Mesh(LITE, given, {}), Mesh(LITE, dict(reversed(given.items())), {})
    named = Mesh(LITE, given, {"cp": "engine.cp"})
    assert first.violations
    assert first.violations is same.violations
    assert named.violations is not first.violations
