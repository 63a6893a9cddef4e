"""slime's launches: Megatron-LM's rules on slime's world, its rollout and its batch."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import detect, slime

BENCH = Bench(
    slime.BACKENDS[0],
    {
        "actor-num-nodes": 2,
        "actor-num-gpus-per-node": 8,
        "tensor-model-parallel-size": 2,
        "pipeline-model-parallel-size": 2,
        "num-layers": 24,
        "hidden-size": 2048,
        "num-attention-heads": 16,
        "rollout-batch-size": 32,
        "n-samples-per-prompt": 8,
        "global-batch-size": 256,
        "rollout-num-gpus-per-engine": 2,
        "over-sampling-batch-size": 64,
    },
    "train.py",
)
TP, PP, CP = "tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size"
LAST, VRANKS = "decoder-last-pipeline-num-layers", "num-virtual-stages-per-pipeline-rank"
ATTENTION = "sglang-enable-dp-attention"
DYNAMIC = {"use-dynamic-batch-size": True, "max-tokens-per-gpu": 4096}
UNTIE = "untie-embeddings-and-output-weights"
HF = {"hf-checkpoint": "/models/odd-tied", "ffn-hidden-size": 8192, "rotary-base": 1000000}

CASES = [
    Case(
        "SL-03",
        {PP: 1, LAST: 6},
        "an uneven first or last stage needs more than one stage, but pp = 1; with PP=2 it fits",
        also=("MC-47a",),
        good={PP: 1},
    ),
    Case(
        "SL-11",
        {"rollout-num-gpus": 7},
        "7 rollout GPUs do not divide into engines of 2: 1 stay idle; with rollout-num-gpus=6 it fits",
    ),
    Case(
        "SL-05",
        {**HF, "allgather-cp": True, CP: 2},
        "--allgather-cp with cp2 is for models with sparse attention (DeepSeek-V3.2, GLM-5) only; with CP=1 it fits",
        good={**HF, CP: 2},
    ),
    Case(
        "SL-06",
        {"use-dynamic-batch-size": True},
        "--use-dynamic-batch-size needs --max-tokens-per-gpu",
        good=DYNAMIC,
    ),
    Case(
        "SL-07",
        {"num-steps-per-rollout": 2},
        "global batch 256, but 32·8 samples in 2 steps make 128 each; with global-batch-size=128 it fits",
        good={"num-steps-per-rollout": 1},
    ),
    Case(
        "SL-08",
        {"over-sampling-batch-size": 16},
        "over-sampling batch 16 is smaller than the rollout batch 32; with over-sampling-batch-size=32 it fits",
    ),
    Case(
        "SL-10a",
        {"sglang-pp-size": 3},
        "2 GPUs of a rollout engine do not divide into sglang pp3 (2 left over); with sglang-pp-size=2 it fits",
        good={"sglang-pp-size": 2},
    ),
    Case(
        "SL-10b",
        {"sglang-dp-size": 2},
        "sglang dp2 needs --sglang-enable-dp-attention",
        good={"sglang-dp-size": 2, ATTENTION: True},
    ),
    Case(
        "SL-12a",
        {"rollout-batch-size": 16},
        "16·8 = 128 samples of a rollout make no step with global batch 256; with global-batch-size=128 it fits",
    ),
    Case(
        "SL-12b",
        {"rollout-batch-size": 48},
        "128 of the 48·8 = 384 samples of a rollout are dropped by global batch 256; with global-batch-size=192 it fits",
    ),
    Case(
        "SL-13",
        {"global-batch-size": 2, **DYNAMIC},
        "a step of 2 samples leaves some of dp4 ranks without one; with global-batch-size=4 it fits",
    ),
    Case(
        "SL-14",
        {"global-batch-size": 128, "micro-batch-size": 3},
        "43 micro batches of 3 in a step of 128 do not divide among dp4·1 = 4 (3 left over); with global-batch-size=130 it fits",
    ),
    Case(
        "SL-15",
        {"global-batch-size": 4, **DYNAMIC, VRANKS: 2},
        "a step of 4 samples is less than one for each of dp4·2 = 8 micro batches; with global-batch-size=8 it fits",
        good={**DYNAMIC, VRANKS: 2},
    ),
    Case(
        "SL-04a",
        {**HF, "num-layers": 28},
        "--num-layers 28, but the checkpoint has 24 layers; with num-layers=24 it fits",
        good=HF,
    ),
    Case(
        "SL-04b",
        {**HF, "hidden-size": 1024},
        "--hidden-size 1024, but that of the checkpoint is 2048; with hidden-size=2048 it fits",
        good=HF,
    ),
    Case(
        "SL-04c",
        {**HF, "num-attention-heads": 32},
        "--num-attention-heads 32, but the checkpoint has 16; with num-attention-heads=16 it fits",
        good=HF,
    ),
    Case(
        "SL-04d",
        {**HF, "ffn-hidden-size": 4096},
        "--ffn-hidden-size 4096, but that of the checkpoint is 8192; with ffn-hidden-size=8192 it fits",
        good=HF,
    ),
    Case(
        "SL-04e",
        {**HF, "moe-ffn-hidden-size": 768},
        "--moe-ffn-hidden-size 768, but that of the checkpoint is 512; with moe-ffn-hidden-size=512 it fits",
        good={**HF, "moe-ffn-hidden-size": 512},
    ),
    Case(
        "SL-04f",
        {**HF, "rotary-base": 10000},
        "--rotary-base 10000, but the checkpoint was trained with 1000000; with rotary-base=1000000 it fits",
        good=HF,
    ),
    Case(
        "SL-04g",
        {**HF, UNTIE: True},
        "--untie-embeddings-and-output-weights, but the checkpoint ties its embeddings",
        good=HF,
    ),
    Case(
        "SL-04h",
        {**HF, "hf-checkpoint": "odd-untied"},
        "the checkpoint has an output layer of its own, which needs --untie-embeddings-and-output-weights",
        good={**HF, "hf-checkpoint": "odd-untied", UNTIE: True},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_a_constraint_and_its_legal_twin(case: Case) -> None:
    BENCH.assert_case(case)


def test_every_rule_of_slime_has_a_case() -> None:
    assert {rule.id for rule in (*slime.RULES, *slime.CHECKPOINT)} == {case.id for case in CASES}


def test_legal_settings_are_silent() -> None:
    mesh = BENCH.mesh()
    assert (mesh.violations, mesh.derived) == ((), {"dp": 4, "edp": 4})


def test_the_rules_of_megatron_lm_hold_on_the_actors_ranks() -> None:
    mesh = BENCH.mesh({"expert-model-parallel-size": 16, "num-experts": 64, "disable-bias-linear": True})
    assert [violation.message for violation in mesh.violations] == [
        "16 GPUs cannot hold etp2·ep16·pp2 = 64 (etp is unset and follows tp); with EP=4 it fits, edp=1"
    ]


def test_the_default_sequence_length_counts() -> None:
    (violation,) = BENCH.mesh({"actor-num-nodes": 3, CP: 3}).violations
    assert violation.constraint.id == "MC-16"


def test_a_packed_batch_need_not_divide() -> None:
    assert BENCH.mesh(
        {**DYNAMIC, "global-batch-size": 64, "rollout-batch-size": 24, "micro-batch-size": 7}
    ).legal


def test_layers_that_do_not_divide_among_the_stages() -> None:
    assert [violation.message for violation in BENCH.mesh({"num-layers": 47}).violations] == [
        "47 layers do not divide into pp2 stages (1 left over); with decoder-last-pipeline-num-layers=23 it fits"
    ]


@pytest.mark.parametrize(
    "settings",
    [{}, {"debug-rollout-only": True}, {"train-backend": "fsdp"}, {"actor-num-nodes": None}],
)
def test_other_launches_are_not_slime(settings: dict[str, object]) -> None:
    base = {} if not settings else {"actor-num-nodes": 2, **settings}
    left = {name: value for name, value in base.items() if value is not None}
    assert "slime" not in [backend.name for backend in detect(left, "train.py")]
