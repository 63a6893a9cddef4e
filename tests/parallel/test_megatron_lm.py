"""Megatron-LM's own flags: what its argument checks, its ranks and its model refuse."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import detect, megatron_lm, megatron_options, plans

BENCH = Bench(
    megatron_lm.BACKENDS[0],
    {
        "tensor-model-parallel-size": 2,
        "pipeline-model-parallel-size": 4,
        "num-layers": 24,
        "hidden-size": 2048,
        "num-attention-heads": 16,
        "seq-length": 4096,
        "micro-batch-size": 1,
        "global-batch-size": 64,
    },
    "pretrain_gpt.py",
    world=64,
)
TP, PP, CP = "tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size"
EP, ETP = "expert-model-parallel-size", "expert-tensor-parallel-size"
FIRST, LAST = "decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers"
VLAYERS, VRANKS = "num-layers-per-virtual-pipeline-stage", "num-virtual-stages-per-pipeline-rank"
LAYOUT = "pipeline-model-parallel-layout"
MOE = {"num-experts": 128, EP: 8, ETP: 1}
GQA = {"group-query-attention": True, "num-query-groups": 4}
GDN = {
    "experimental-attention-variant": "gated_delta_net",
    "linear-num-key-heads": 16,
    "linear-num-value-heads": 32,
}

CASES = [
    Case("MC-01", {CP: 16}, "64 GPUs cannot hold tp2·cp16·pp4 = 128; with CP=8 it fits, dp=1"),
    Case("MC-05", {"micro-batch-size": 0}, "micro batch size = 0, but it is at least 1"),
    Case(
        "MC-06",
        {"global-batch-size": 60},
        "global batch 60 does not divide into micro batches of 1 on dp8 (4 left over); with global-batch-size=56 it fits",
    ),
    Case(
        "MC-08",
        {"perform-rl-step": True, "global-batch-size": 48, "micro-batch-size": 2},
        "128 samples of a collection do not divide into global batches of 48 (32 left over); with global-batch-size=32 it fits",
    ),
    Case(
        "MC-09",
        {VRANKS: 2, LAYOUT: "Et*3|(tt|)*6t*9L"},
        "only one of --num-layers-per-virtual-pipeline-stage, --num-virtual-stages-per-pipeline-rank and --pipeline-model-parallel-layout can be set",
    ),
    Case(
        "MC-10",
        {LAYOUT: "Et*8|t*8|t*8L"},
        "the layout's 3 stages do not divide among pp4 ranks (3 left over)",
    ),
    Case(
        "MC-11",
        {VLAYERS: 3, LAST: 6},
        "uneven first or last stages need --num-virtual-stages-per-pipeline-rank, not --num-layers-per-virtual-pipeline-stage",
    ),
    Case(
        "MC-12a",
        {VLAYERS: 3, "num-layers": 30},
        "30 layers do not divide into pp4 stages (2 left over); with PP=2 it fits",
    ),
    Case(
        "MC-12b",
        {VLAYERS: 4},
        "6 layers of a stage do not divide into virtual stages of 4; with num-layers-per-virtual-pipeline-stage=3 it fits",
        good={VLAYERS: 3},
    ),
    Case(
        "MC-13",
        {"num-layers": 61},
        "61 layers do not divide into pp4 stages (1 left over); with decoder-last-pipeline-num-layers=16 it fits",
    ),
    Case(
        "MC-14",
        {VRANKS: 2, PP: 1},
        "2 model chunks per rank need more than one pipeline stage, but pp = 1; with PP=2 it fits",
        good={VRANKS: 2},
    ),
    Case(
        "MC-16",
        {"seq-length": 4100, CP: 4},
        "sequence length 4100 does not divide into 2·cp4 = 8 chunks (4 left over); with CP=2 it fits",
        good={CP: 4},
    ),
    Case(
        "MC-17",
        {"hidden-size": 2040},
        "hidden size 2040 does not divide among 16 heads (8 left over); with num-attention-heads=12 it fits",
        good={"hidden-size": 2040, "kv-channels": 128},
    ),
    Case(
        "MC-20",
        {**MOE, EP: 16, "num-experts": 120},
        "120 experts do not divide among ep16 (8 left over); with EP=8 it fits",
        good=MOE,
    ),
    Case(
        "MC-21",
        {"use-torch-fsdp2": True},
        "--use-torch-fsdp2 has neither pipeline nor expert parallel ranks, but pp = 4 and ep = 1; with PP=1 it fits",
        good={"use-torch-fsdp2": True, PP: 1},
    ),
    Case(
        "MC-32",
        {**MOE, EP: 32},
        "64 GPUs cannot hold etp1·ep32·pp4 = 128; with EP=16 it fits, edp=1",
        good=MOE,
    ),
    Case(
        "MC-34",
        {"use-tp-pp-dp-mapping": True, **MOE},
        "--use-tp-pp-dp-mapping needs the same dp for experts, but dp = 8 and edp = 2; with CP=4 it fits",
        good={"use-tp-pp-dp-mapping": True},
    ),
    Case(
        "MC-35",
        {"num-distributed-optimizer-instances": 3},
        "dp8·cp1 = 8 ranks do not divide into 3 optimizer instances; with num-distributed-optimizer-instances=2 it fits",
    ),
    Case(
        "MC-51",
        {**MOE, "moe-router-num-groups": 3},
        "128 experts do not divide into 3 router groups (2 left over); with moe-router-num-groups=2 it fits",
        good={**MOE, "moe-router-num-groups": 8},
    ),
    Case(
        "MC-40",
        {"num-attention-heads": 18, "hidden-size": 2304, TP: 4},
        "18 attention heads do not divide among tp4 (2 left over); with TP=2 it fits",
    ),
    Case(
        "MC-41",
        {**GQA, "num-query-groups": 3},
        "3 query groups and tp2: neither divides the other; with TP=1 it fits",
        good=GQA,
    ),
    Case(
        "MC-42",
        {**GDN, TP: 8, "linear-num-key-heads": 12},
        "the gated delta net has 12 key and 32 value heads, which do not divide among tp8; with TP=4 it fits",
        good={**GDN, TP: 8},
    ),
    Case(
        "MC-43",
        {"experimental-attention-variant": "dsv4_hybrid"},
        "DeepSeek-V4 cannot be split over tensor parallel ranks, but tp = 2; with TP=1 it fits",
    ),
    Case(
        "MC-47a",
        {FIRST: 12, LAST: 12},
        "0 layers remain for 2 middle stages; with decoder-last-pipeline-num-layers=10 it fits",
    ),
    Case(
        "MC-47b",
        {LAST: 5},
        "19 layers between the first and the last stage do not divide into 3 stages (1 left over); with decoder-last-pipeline-num-layers=6 it fits",
        good={LAST: 6},
    ),
    Case(
        "MC-47c",
        {LAST: 3, VRANKS: 2},
        "the first stage's 0 and the last stage's 3 layers do not divide into 2 model chunks; with decoder-last-pipeline-num-layers=6 it fits",
        good={LAST: 6, VRANKS: 2},
    ),
    Case(
        "MC-48",
        {VRANKS: 4},
        "6 layers of a stage do not divide into 4 model chunks (2 left over); with num-virtual-stages-per-pipeline-rank=3 it fits",
        good={VRANKS: 3},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_a_constraint_and_its_legal_twin(case: Case) -> None:
    BENCH.assert_case(case)


def test_every_constraint_has_a_case() -> None:
    # Those of further options have a module of their own.
    assert BENCH.uncovered(CASES) == {rule.id for rule in megatron_options.RULES}


def test_legal_settings_are_silent() -> None:
    mesh = BENCH.mesh()
    assert (mesh.violations, mesh.derived) == ((), {"dp": 8, "edp": 8})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num-layers": 61},
        {"target-tensor-parallel-size": 3},
        {TP: 8, "hf-checkpoint": "/models/Qwen3-8B"},
        {TP: 8, "actor-num-nodes": 4},
    ],
)
def test_other_launches_are_not_megatron_lm(settings: dict[str, object]) -> None:
    assert "megatron_lm" not in [backend.name for backend in detect(settings, "tool.py")]


def test_without_a_known_world_what_needs_none_is_still_checked() -> None:
    (mesh,) = plans({**BENCH.base, "num-layers": 25, CP: 3}, "pretrain_gpt.py")
    assert [violation.constraint.id for violation in mesh.violations] == ["MC-13", "MC-16"]


@pytest.mark.parametrize("name", ["num-layers", PP, LAST, "hybrid-layer-pattern"])
def test_a_number_that_cannot_be_read_silences_what_needs_it(name: str) -> None:
    assert [rule.id for rule in BENCH.mesh({"num-layers": 25, name: "<unknown>"})._broken] == []


def test_layers_of_virtual_stages_give_the_chunks() -> None:
    assert BENCH.mesh({VLAYERS: 3}).values["chunks"] == 2
    assert BENCH.mesh({LAYOUT: "Et*3|(tt|)*6t*9L"}).values["chunks"] == 2
    assert BENCH.mesh().values["chunks"] == 1
