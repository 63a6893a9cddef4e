"""The prover against guards whose faults are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from example_sanity.parallel.backends import megatron, megatron_lite
from example_sanity.parallel.grid import Grid
from example_sanity.parallel.guard import Judge, Proof, Verdict, prove

LITE, CORE = megatron_lite.ACTOR_BACKEND, megatron.ACTOR_BACKEND

VARIABLES = {
    "NNODES": "world",
    "NDEVICES_PER_NODE": "world",
    "TP": "tp",
    "PP": "pp",
    "EP": "ep",
    "CP": "cp",
    "ETP": "etp",
}
QWEN = {"NNODES": 1, "NDEVICES_PER_NODE": 8, "TP": 1, "PP": 1, "EP": 8, "CP": 8, "ETP": 1}
KIMI = {**QWEN, "NNODES": 32, "PP": 8}
DEFAULTS = pytest.mark.parametrize("defaults", [QWEN, KIMI], ids=["one node", "32 nodes"])

Sizes = Mapping[str, int]
Guard = Callable[[Sizes], "Verdict | None"]


def world(knobs: Sizes) -> int:
    return knobs["NNODES"] * knobs["NDEVICES_PER_NODE"]


def dense(knobs: Sizes) -> int:
    return knobs["TP"] * knobs["CP"] * knobs["PP"]


def expert(knobs: Sizes) -> int:
    return knobs["ETP"] * knobs["EP"] * knobs["PP"]


def exact(knobs: Sizes) -> Verdict:
    ngpu = world(knobs)
    if ngpu % dense(knobs) or ngpu % expert(knobs):
        return Verdict(accepted=False)
    return Verdict(accepted=True, derived={"dp": ngpu // dense(knobs), "edp": ngpu // expert(knobs)})


def without_cp(knobs: Sizes) -> Verdict:
    """A guard with EP where CP should be: world/pp = tp·ep·dp."""
    ngpu, pp = world(knobs), knobs["PP"]
    stage, tp_ep, etp_ep = ngpu // pp, knobs["TP"] * knobs["EP"], knobs["ETP"] * knobs["EP"]
    if ngpu % pp or stage % tp_ep or stage % etp_ep:
        return Verdict(accepted=False)
    return Verdict(accepted=True, derived={"dp": stage // tp_ep, "edp": stage // etp_ep})


def judge(guard: Guard) -> Judge:
    def run(assignments: Sequence[dict[str, int]]) -> list[Verdict | None]:
        return [guard(knobs) for knobs in assignments]

    return run


def proof(guard: Guard, defaults: Mapping[str, int], backend: object = LITE) -> Proof:
    assert backend in (LITE, CORE)
    return prove(
        LITE if backend is LITE else CORE, {"vpp": 1}, VARIABLES, judge(guard), Grid.around(defaults)
    )


@DEFAULTS
def test_an_exact_guard_is_exact(defaults: Mapping[str, int]) -> None:
    result = proof(exact, defaults)
    assert result.exact
    assert 0 < result.accepted < result.tried <= 3000


def test_a_guard_without_cp_on_one_node() -> None:
    result = proof(without_cp, QWEN)
    assert not result.exact
    assert result.unsound is not None
    assert result.strict is not None
    assert result.unsound.setting == "CP=16"
    assert [violation.message for violation in result.unsound.mesh.violations] == [
        "8 GPUs cannot hold tp1·cp16·pp1 = 16; with CP=8 it fits, dp=1"
    ]
    assert result.strict.setting == "TP=2 CP=1"
    assert result.strict.mesh.derived == {"dp": 4, "edp": 1}
    (wrong,) = result.wrong_derived
    assert (wrong.symbol, wrong.shown, wrong.right, wrong.example.setting) == ("dp", 8, 1, "EP=1")


def test_a_guard_without_cp_on_many_nodes() -> None:
    result = proof(without_cp, KIMI)
    assert result.unsound is not None
    assert result.strict is not None
    assert result.unsound.setting == "CP=64"
    assert result.unsound.mesh.sizes["world"] == 256
    assert result.strict.setting == "TP=8 CP=1"
    (wrong,) = result.wrong_derived
    assert (wrong.symbol, wrong.shown, wrong.right, wrong.example.setting) == ("dp", 32, 4, "EP=1")


def test_the_defaults_themselves_can_be_the_example() -> None:
    def product(knobs: Sizes) -> Verdict:
        return Verdict(accepted=world(knobs) % (dense(knobs) * knobs["EP"]) == 0)

    result = proof(product, QWEN)
    assert result.unsound is not None
    assert result.unsound.setting == "CP=1 ETP=2"
    assert result.strict is not None
    assert result.strict.setting == "the defaults"


def checks(dense_size: Callable[[Sizes], int], expert_size: Callable[[Sizes], int]) -> Guard:
    return lambda knobs: Verdict(
        accepted=not (world(knobs) % dense_size(knobs) or world(knobs) % expert_size(knobs))
    )


UNSOUND: dict[str, Guard] = {
    "nothing": lambda _: Verdict(accepted=True),
    "no tp": checks(lambda k: k["CP"] * k["PP"], expert),
    "no cp": checks(lambda k: k["TP"] * k["PP"], expert),
    "no pp": checks(lambda k: k["TP"] * k["CP"], expert),
    "no etp": checks(dense, lambda k: k["EP"] * k["PP"]),
    "no ep": checks(dense, lambda k: k["ETP"] * k["PP"]),
    "no pp in the expert part": checks(dense, lambda k: k["ETP"] * k["EP"]),
    "no expert part": checks(dense, lambda _: 1),
    "no dense part": checks(lambda _: 1, expert),
    "tp for etp": checks(dense, lambda k: k["TP"] * k["EP"] * k["PP"]),
    "enough instead of divisible": lambda k: Verdict(accepted=world(k) >= max(dense(k), expert(k))),
    "each size on its own": lambda k: Verdict(
        accepted=not any(world(k) % k[n] for n in ("TP", "CP", "PP", "EP"))
    ),
}
STRICT: dict[str, Guard] = {
    "everything rejected": lambda _: Verdict(accepted=False),
    "ep in the dense product": checks(lambda k: dense(k) * k["EP"], expert),
    "ep divides dp": lambda k: Verdict(
        accepted=exact(k).accepted and world(k) // dense(k) % k["EP"] == 0,
    ),
    "ep equals cp": lambda k: Verdict(accepted=exact(k).accepted and k["EP"] == k["CP"]),
    "powers of two only": lambda k: Verdict(accepted=exact(k).accepted and world(k).bit_count() == 1),
}


@DEFAULTS
@pytest.mark.parametrize("fault", UNSOUND)
def test_unsound_guards_are_found_near_the_defaults(fault: str, defaults: Mapping[str, int]) -> None:
    example = proof(UNSOUND[fault], defaults).unsound
    assert example is not None
    assert not exact(example.knobs).accepted
    assert UNSOUND[fault](example.knobs) == Verdict(accepted=True)
    assert len(example.changed) <= 2


@DEFAULTS
@pytest.mark.parametrize("fault", STRICT)
def test_strict_guards_are_found_near_the_defaults(fault: str, defaults: Mapping[str, int]) -> None:
    result = proof(STRICT[fault], defaults)
    assert result.unsound is None
    assert result.strict is not None
    assert exact(result.strict.knobs).accepted
    assert STRICT[fault](result.strict.knobs) == Verdict(accepted=False)
    assert len(result.strict.changed) <= 2


def test_sizes_that_a_launcher_fixes_are_part_of_the_mesh() -> None:
    variables = {"NGPU": "world", "PP": "pp", "EP": "ep", "CP": "cp"}
    fixed = {"tp": 1, "etp": 1, "vpp": 1}

    def guard(knobs: Sizes) -> Verdict:
        return exact({**knobs, "NNODES": knobs["NGPU"], "NDEVICES_PER_NODE": 1, "TP": 1, "ETP": 1})

    grid = Grid.around({"NGPU": 128, "PP": 4, "EP": 8, "CP": 4})
    assert prove(LITE, fixed, variables, judge(guard), grid).exact
    assert prove(LITE, {**fixed, "tp": 2}, variables, judge(guard), grid).unsound is not None


def test_a_fixed_factor_of_the_world_multiplies() -> None:
    variables = {"NNODES": "world", "CP": "cp"}

    def guard(knobs: Sizes) -> Verdict:
        return Verdict(accepted=8 * knobs["NNODES"] % knobs["CP"] == 0)

    grid = Grid.around({"NNODES": 1, "CP": 8})
    assert prove(LITE, {"world": 8}, variables, judge(guard), grid).exact


def test_a_size_that_nobody_sets_takes_the_default_of_the_backend() -> None:
    variables = {"NGPU": "world", "TP": "tp", "EP": "ep"}

    def guard(knobs: Sizes) -> Verdict:
        return Verdict(accepted=knobs["NGPU"] % knobs["TP"] == 0 and knobs["NGPU"] % knobs["EP"] == 0)

    grid = Grid.around({"NGPU": 8, "TP": 1, "EP": 8})
    assert prove(LITE, {}, variables, judge(guard), grid).exact
    unsound = prove(CORE, {}, variables, judge(guard), grid).unsound
    assert unsound is not None
    assert unsound.setting == "TP=2"
    assert unsound.mesh.sizes["etp"] == 2


def test_what_a_model_needs_beyond_the_mesh_is_not_asked_of_a_guard() -> None:
    variables = {"VPP": "vpp"}
    grid = Grid.around({"VPP": 1})
    assert prove(LITE, {"world": 8}, variables, judge(lambda _: Verdict(accepted=True)), grid).exact


def test_an_assignment_that_could_not_be_run_counts_for_nothing() -> None:
    result = proof(lambda _: None, QWEN)
    assert result.exact
    assert (result.tried, result.accepted) == (0, 0)


def test_a_derived_size_that_the_algebra_does_not_know_is_left_alone() -> None:
    def guard(knobs: Sizes) -> Verdict:
        return Verdict(exact(knobs).accepted, {"nmb": 3})

    assert proof(guard, QWEN).exact


def test_a_judge_must_answer_every_assignment() -> None:
    grid = Grid.around(QWEN)
    with pytest.raises(ValueError, match="shorter"):
        prove(LITE, {}, VARIABLES, lambda _: [Verdict(accepted=True)], grid)


def test_a_world_is_needed() -> None:
    with pytest.raises(ValueError, match="world"):
        prove(LITE, {}, {"CP": "cp"}, judge(exact), Grid.around({"CP": 8}))
