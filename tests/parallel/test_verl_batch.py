"""What verl asks of every PPO and SFT launch, tried on FSDP."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import fsdp, plans, verl_batch

MODEL = "actor_rollout_ref.model.path"
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
PPO, SFT = "verl.trainer.main_ppo", "verl.trainer.sft_trainer"
RTP, RDP, REP = (
    f"{ROLLOUT}.{name}"
    for name in ("tensor_model_parallel_size", "data_parallel_size", "expert_parallel_size")
)
MOE_TP, NAME = f"{ROLLOUT}.moe_tensor_parallel_size", f"{ROLLOUT}.name"
B, M, N = "data.train_batch_size", f"{ACTOR}.ppo_mini_batch_size", f"{ROLLOUT}.n"
MBS, DYNAMIC, TOKENS = (
    f"{ACTOR}.{name}"
    for name in ("ppo_micro_batch_size_per_gpu", "use_dynamic_bsz", "ppo_max_token_len_per_gpu")
)
THREE = {"trainer.nnodes": 3, B: 288, M: 72}
LENGTH, ODD = f"{ROLLOUT}.max_model_len", {MODEL: "odd", RTP: 2}
MODE = "trainer.v1.trainer_mode"

BENCH = Bench(
    fsdp.BACKENDS[0],
    {
        "trainer.nnodes": 2,
        "trainer.n_gpus_per_node": 8,
        B: 256,
        M: 64,
        N: 4,
        MBS: 4,
        RTP: 4,
        NAME: "vllm",
        MODEL: "Qwen/Qwen3-30B-A3B",
    },
    PPO,
)
SFT_BENCH = Bench(
    fsdp.BACKENDS[3],
    {"model.path": "Qwen/Qwen3-8B", B: 64, "data.micro_batch_size_per_gpu": 4},
    SFT,
    world=8,
)
OLD = f"{ACTOR}.ppo_micro_batch_size"
LONG = {DYNAMIC: True, "data.max_response_length": 30000}

CASES = [
    Case(
        "VC-03",
        {B: 258, M: 6, MBS: 1},
        "258·4 = 1032 samples of a step do not divide among 16 GPUs (8 left over); with train_batch_size=256 it fits",
        also=("VC-12",),
    ),
    Case(
        "VC-07",
        {B: 32},
        "train batch 32 is smaller than the mini batch 64; with ppo_mini_batch_size=32 it fits",
        also=(),
    ),
    Case(
        "VC-08",
        {OLD: 48, MBS: None},
        "mini batch 64 does not divide into micro batches of 48 (16 left over); with ppo_micro_batch_size=32 it fits",
        good={OLD: 32, MBS: None},
    ),
    Case(
        "VC-11",
        {RTP: 3},
        "a world of 16 does not divide into rollout replicas of tp3·dp1·pp1 = 3 (1 left over); with tensor_model_parallel_size=2 it fits",
        also=("VL-01",),
    ),
    Case(
        "VC-12",
        {M: 34, B: 272},
        "34·4 = 136 samples of an update do not divide among dp16 (8 left over); with ppo_mini_batch_size=32 it fits",
        also=(),
    ),
    Case(
        "VC-13",
        {MBS: 3},
        "16 samples of a rank do not divide into micro batches of 3 (1 left over); with ppo_micro_batch_size_per_gpu=2 it fits",
    ),
    Case(
        "VC-14",
        LONG,
        "16384·1 = 16384 tokens of a micro batch are fewer than those of one sequence, 512 + 30000 = 30512; with ppo_max_token_len_per_gpu=30512 it fits",
        good={**LONG, TOKENS: 32768},
    ),
    Case(
        "VC-16",
        {B: 288},
        "train batch 288 is no multiple of the mini batch 64: the last update is filled with 32 empty prompts; with train_batch_size=256 it fits",
    ),
    Case(
        "VC-18",
        {MODE: "separate_async", B: 128},
        "train batch 128 must be parameter_sync_step 4 · mini batch 64 = 256; with train_batch_size=256 it fits",
        good={MODE: "separate_async"},
    ),
    Case(
        "VL-01",
        {RTP: 8, MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among rollout tp8 (4 left over); with tensor_model_parallel_size=4 it fits",
    ),
    Case(
        "VL-02",
        {MODEL: "odd"},
        "6 KV heads and rollout tp4: neither divides the other; with tensor_model_parallel_size=2 it fits",
    ),
    Case(
        "VR-01",
        {REP: 8},
        "rollout ep8 must be tp4·dp1 = 4; with expert_parallel_size=4 it fits",
        good={REP: 4},
    ),
    Case(
        "VR-02",
        {f"{ROLLOUT}.pipeline_model_parallel_size": 2},
        "the rollout has pp2, but no rollout engine of verl runs pipeline parallel; with pipeline_model_parallel_size=1 it fits",
    ),
    Case(
        "VR-03a",
        {MOE_TP: 2},
        "moe_tensor_parallel_size = 2 is for trtllm only; with moe_tensor_parallel_size=1 it fits",
        good={MOE_TP: 2, NAME: "trtllm"},
    ),
    Case(
        "VR-03b",
        {MOE_TP: 4, REP: 2, NAME: "trtllm"},
        "rollout moe_tp4·ep2 = 8 must be tp4; with expert_parallel_size=1 it fits",
        good={MOE_TP: 2, REP: 2, NAME: "trtllm"},
    ),
    Case(
        "VR-04",
        {**THREE, RTP: 12},
        "a rollout replica of 12 GPUs does not fill nodes of 8 (4 left over); with tensor_model_parallel_size=8 it fits",
        also=("VR-09", "VL-01"),
    ),
    Case(
        "VR-06",
        {**THREE, RTP: 3},
        "rollout replicas of 3 GPUs do not divide a node of 8, so one lies across two nodes; with tensor_model_parallel_size=2 it fits",
        also=("VL-01",),
    ),
    Case(
        "VR-07",
        {RTP: 16, RDP: 2, "trainer.nnodes": 4},
        "8 GPUs of a replica on a node do not divide into tp16; with tensor_model_parallel_size=8 it fits",
        also=("VR-09",),
    ),
    Case(
        "VR-08",
        {LENGTH: 65536, **ODD},
        "max_model_len = 65536, but the model has 32768 positions",
        good={LENGTH: 32768, **ODD},
    ),
    Case(
        "VR-09",
        {RTP: 16},
        "tensor parallel groups of the rollout (tp16) span nodes of 8 GPUs; with tensor_model_parallel_size=8 it fits",
    ),
]
SFT_CASES = [
    Case(
        "VC-21a",
        {B: 4},
        "train batch 4 leaves none for each of dp8 ranks; with train_batch_size=8 it fits",
        also=(),
    ),
    Case(
        "VC-21b",
        {B: 68},
        "train batch 68 does not divide among dp8; 64 are trained on at a time; with train_batch_size=64 it fits",
    ),
    Case(
        "VC-13",
        {"data.use_dynamic_bsz": False, "data.micro_batch_size_per_gpu": 3},
        "8 samples of a rank do not divide into micro batches of 3 (2 left over); with micro_batch_size_per_gpu=2 it fits",
    ),
    Case(
        "VC-14",
        {"data.max_length": 16384},
        "8192·1 = 8192 tokens of a micro batch are fewer than those of one sequence, 16384; with max_token_len_per_gpu=16384 it fits",
    ),
]
ALL = [(BENCH, CASES), (SFT_BENCH, SFT_CASES)]


@pytest.mark.parametrize(("bench", "case"), [(b, c) for b, cases in ALL for c in cases], ids=label)
def test_a_constraint_and_its_legal_twin(bench: Bench, case: Case) -> None:
    bench.assert_case(case)


def test_every_rule_of_the_batch_has_a_case() -> None:
    rules = (*verl_batch.ROLLOUT, *verl_batch.BATCH, *verl_batch.STRATEGY_BATCH, *verl_batch.ACTOR)
    assert {rule.id for rule in rules} == {case.id for case in CASES}
    assert {rule.id for rule in verl_batch.SFT_BATCH} == {case.id for case in SFT_CASES}


def test_legal_settings_are_silent() -> None:
    assert BENCH.mesh().violations == ()
    assert SFT_BENCH.mesh().violations == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"rollout.nnodes": 1},
        {f"{ROLLOUT}.nnodes": 1},
        {"config-name": "fully_async_ppo_trainer"},
        {MODE: "separate_async"},
    ],
)
def test_a_rollout_with_gpus_of_its_own_need_not_divide_those_of_the_trainer(
    changes: dict[str, object],
) -> None:
    assert [v.constraint.id for v in BENCH.mesh({RTP: 32, NAME: "sglang", **changes}).violations] == []


def test_an_asynchronous_program_has_them_too() -> None:
    settings = {**BENCH.base, RTP: 32, NAME: "sglang"}
    (mesh,) = plans(settings, "verl.experimental.fully_async_policy.fully_async_main")
    assert mesh.violations == ()


def test_the_budget_of_tokens_is_shared_by_the_ranks_of_a_sequence() -> None:
    assert BENCH.mesh({**LONG, f"{ACTOR}.ulysses_sequence_parallel_size": 2}).violations == ()


def test_a_dynamic_batch_is_cut_by_tokens_only() -> None:
    assert BENCH.mesh({DYNAMIC: True, MBS: 3, B: 320}).violations == ()


def test_a_legal_mesh_whose_mini_batch_fails_at_the_first_update() -> None:
    settings: dict[str, object] = {
        "actor@actor_rollout_ref.actor": "mlite_actor",
        "actor_rollout_ref.model.path": "moonshotai/Kimi-K2-Instruct",
        **{f"{ACTOR}.engine.{name}": 8 for name in ("pp", "ep", "cp")},
        "trainer.nnodes": 24,
        B: 128,
        M: 32,
        N: 16,
        DYNAMIC: True,
        NAME: "vllm",
    }
    (mesh,) = plans(settings, PPO)
    (violation,) = mesh.violations
    assert mesh.derived == {"dp": 3, "edp": 3}
    assert violation.message == (
        "32·16 = 512 samples of an update do not divide among dp3 (2 left over); with ppo_mini_batch_size=33 it fits"
    )
    assert violation.constraint.outcome == "AssertionError at the first update"


def test_a_critic_has_a_batch_of_its_own() -> None:
    critic = {"critic.model.path": "Qwen/Qwen3-8B", "critic.ppo_mini_batch_size": 30}
    _, mesh = plans({**BENCH.base, **critic, DYNAMIC: True}, PPO)
    (violation,) = mesh.violations
    assert (mesh.backend.role, violation.constraint.id) == ("critic", "VC-12")
    assert mesh.involved(violation.constraint) == ("m", "n", "nnodes", "gpn")
