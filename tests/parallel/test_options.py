"""Options beyond the sizes of the mesh: Megatron-LM's, Megatron Lite's and verl's."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import fsdp, megatron_lite, megatron_options
from parallel.test_megatron_lm import BENCH as CORE
from parallel.test_megatron_lm import CP, EP, FIRST, LAYOUT, PP, TP, VRANKS

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
ENGINE, MODEL = f"{ACTOR}.engine", "actor_rollout_ref.model.path"
INNER = f"{ENGINE}.impl_cfg"
VARIANT, PARTITION = "experimental-attention-variant", "cp-partition-mode"
DS4 = {VARIANT: "dsv4_hybrid", TP: 1, "csa-compress-ratios": [4] * 24}
PATTERN = "hybrid-layer-pattern"
HYBRID = {PATTERN: "MM|M*|M-|MM", "num-layers": 8}
GROUP = "microbatch-group-size-per-virtual-pipeline-stage"

CORE_CASES = [
    Case(
        "MC-04a",
        {CP: 4, "hierarchical-context-parallel-sizes": [2, 4]},
        "the levels of context parallel make 8, not cp4; with CP=8 it fits",
        good={CP: 8, "hierarchical-context-parallel-sizes": [2, 4]},
    ),
    Case(
        "MC-04b",
        {"cp-comm-type": ["p2p", "a2a+p2p"]},
        "--cp-comm-type a2a+p2p needs --hierarchical-context-parallel-sizes",
        good={"cp-comm-type": "p2p"},
    ),
    Case(
        "MC-15a",
        {**HYBRID, PATTERN: "MM|M*|M-"},
        "the 3 segments of the hybrid pattern do not divide among pp4 ranks (3 left over); with PP=1 it fits",
        good=HYBRID,
    ),
    Case(
        "MC-15b",
        {**HYBRID, FIRST: 2},
        "a hybrid pattern says the pipeline layout itself, so no other option may",
        good=HYBRID,
    ),
    Case(
        "MC-22",
        {"use-megatron-fsdp": True},
        "--use-megatron-fsdp needs --ckpt-format fsdp_dtensor",
        good={"use-megatron-fsdp": True, "ckpt-format": "fsdp_dtensor"},
    ),
    Case(
        "MC-23",
        {"distribute-saved-activations": True, TP: 1},
        "--distribute-saved-activations needs tensor parallel ranks, but tp = 1; with TP=2 it fits",
        good={"distribute-saved-activations": True},
    ),
    Case(
        "MC-24",
        {"dynamic-context-parallel": True, "min-dynamic-context-parallel-size": 16},
        "dynamic context parallel takes 16 ranks at least, but dp8·cp1 = 8; with min-dynamic-context-parallel-size=8 it fits",
        good={"dynamic-context-parallel": True},
    ),
    Case(
        "MC-44a",
        {CP: 2, PARTITION: "contiguous"},
        "--cp-partition-mode contiguous with cp2 is for DeepSeek-V4 and gated delta nets only; with CP=1 it fits",
        good={**DS4, CP: 2, PARTITION: "contiguous"},
    ),
    Case(
        "MC-44b",
        {**DS4, CP: 2},
        "DeepSeek-V4 with cp2 needs --cp-partition-mode contiguous; with CP=1 it fits",
        good=DS4,
    ),
    Case(
        "MC-45",
        {VARIANT: "dsa", CP: 2},
        "sparse attention with cp2 needs --cp-comm-type allgather; with CP=1 it fits",
        good={VARIANT: "dsa", CP: 2, "cp-comm-type": "all_gather"},
    ),
    Case(
        "MC-46",
        {**DS4, "mtp-num-layers": 1},
        "24 compression ratios for 24 layers and 1 MTP layers",
        good=DS4,
    ),
    Case(
        "MC-50",
        {"moe-n-hash-layers": 3},
        "3 hash layers on pp4 need a --pipeline-model-parallel-layout that keeps them beside the embedding; with PP=1 it fits",
        good={"moe-n-hash-layers": 3, LAYOUT: "Et*6|t*6|t*6|t*6L"},
    ),
    Case(
        "MC-52",
        {"num-experts": 8, EP: 4},
        "experts with biases cannot be split over etp2 ranks; use --disable-bias-linear (etp is unset and follows tp); with ETP=1 it fits",
        good={"num-experts": 8, EP: 4, "disable-bias-linear": True},
    ),
    Case(
        "MC-56a",
        {VRANKS: 2, GROUP: 3},
        "8 micro batches of a step for groups of 3 on pp4: virtual stages need a group of pp to nmb; with microbatch-group-size-per-virtual-pipeline-stage=4 it fits",
        good={VRANKS: 2},
    ),
    Case(
        "MC-56b",
        {VRANKS: 2, GROUP: 5},
        "8 micro batches of a step leave 3 beside groups of 5, fewer than pp4; with microbatch-group-size-per-virtual-pipeline-stage=4 it fits",
        good={VRANKS: 2, GROUP: 8},
    ),
    Case(
        "MC-58",
        {"ffn-hidden-size": 8193},
        "feed-forward width 8193 does not divide among tp2 (1 left over); with TP=1 it fits",
        good={"ffn-hidden-size": 8192},
    ),
]
FSDP2 = {**CORE.base, PP: 1, "use-torch-fsdp2": True}

LITE = Bench(
    megatron_lite.BACKENDS[0],
    {
        "actor@actor_rollout_ref.actor": "mlite_actor",
        "trainer.nnodes": 2,
        MODEL: "odd-lite",
        f"{ACTOR}.use_dynamic_bsz": True,
    },
    "verl.trainer.main_ppo",
)
MTP = "actor_rollout_ref.model.mtp.enable"
MAGI = {f"{ENGINE}.attention_backend_override": "magi"}
KL = {f"{ACTOR}.use_kl_loss": True}
LITE_CASES = [
    Case(
        "ML-13",
        {f"{INNER}.use_deepep": True, f"{ENGINE}.etp": 2},
        "use_deepep runs without expert tensor parallel, but etp = 2; with ETP=1 it fits",
        good={f"{INNER}.use_deepep": True},
    ),
    Case(
        "ML-14",
        {MTP: True, MODEL: "odd"},
        "the model has no MTP layers, so model.mtp.enable must be False",
        good={MTP: True},
    ),
    Case(
        "ML-18",
        {f"{ENGINE}.etp": 8},
        "width 1540 of an expert does not divide among etp8: 4 columns are left out; with ETP=4 it fits",
    ),
    Case(
        "ML-19",
        {f"{ENGINE}.tp": 8},
        "feed-forward width 8196 of the dense layers does not divide among tp8 (4 left over); with TP=4 it fits",
    ),
    Case(
        "ML-29",
        MAGI,
        "magi attention needs context parallel, one pipeline stage, no MTP and no gated delta nets, but cp = 1, pp = 1; with CP=2 it fits",
        good={**MAGI, f"{ENGINE}.cp": 2},
    ),
    Case(
        "ML-30",
        {f"{ENGINE}.attention_backend_override": "flash3"},
        "attention_backend_override must be auto, flash, fused, unfused, local or magi",
    ),
    Case(
        "ML-32",
        {f"{ACTOR}.optim.optimizer": "sgd"},
        "Megatron Lite trains with optimizers of the Adam kind only",
        good={f"{ACTOR}.optim.optimizer": "AdamW"},
    ),
    Case(
        "ML-33",
        {f"{INNER}.optimizer": "fsdp"},
        "impl_cfg.optimizer must be dist_opt or fsdp2",
        good={f"{INNER}.optimizer": "fsdp2"},
    ),
    Case(
        "ML-35",
        {MODEL: "Qwen/Qwen3-8B"},
        "Megatron Lite finds no model of its own for a dense one; engine.model_name must name it",
    ),
    Case(
        "ML-36",
        {f"{INNER}.router_bias_rate": 0.001},
        "router_bias_rate is not implemented for this model; it must be 0",
        good={f"{INNER}.router_bias_rate": 0.0},
    ),
    Case(
        "ML-37a",
        {f"{ENGINE}.router_replay_mode": "R2"},
        "router_replay_mode must be disabled or R3",
        good={f"{ENGINE}.router_replay_mode": "R3"},
    ),
    Case(
        "ML-37b",
        {f"{INNER}.use_thd": False},
        "verl trains on packed sequences only, so impl_cfg.use_thd must be True",
    ),
    Case(
        "ML-38",
        {f"{INNER}.mtp_enable": True},
        "impl_cfg.mtp_enable is overwritten by model.mtp.enable, which is False",
        good={f"{INNER}.mtp_enable": True, MTP: True},
    ),
    Case(
        "ML-39",
        KL,
        "the KL term needs a reference policy on Megatron Lite: add ref@actor_rollout_ref.ref=mlite_ref",
        good={**KL, "ref@actor_rollout_ref.ref": "mlite_ref"},
    ),
]

B, MBS = "data.train_batch_size", "micro_batch_size"
VERL = Bench(
    fsdp.BACKENDS[0],
    {
        "trainer.nnodes": 2,
        B: 256,
        f"{ACTOR}.ppo_mini_batch_size": 64,
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": 4,
        f"{ACTOR}.strategy": "fsdp_turbo",
        f"{ROLLOUT}.log_prob_use_dynamic_bsz": False,
        f"{ROLLOUT}.n_gpus_per_node": 8,
        "distillation.teacher_models.teacher_model.inference.tensor_model_parallel_size": 4,
    },
    "verl.trainer.main_ppo",
)
TURBO = f"{ACTOR}.fsdp_config.turbo_config.distributed.ulysses_parallel_size"
OLD = {"trainer.use_v1": False}
VERL_CASES = [
    Case(
        "VC-06a",
        {f"{ACTOR}.ppo_{MBS}": 32},
        "both ppo_micro_batch_size and ppo_micro_batch_size_per_gpu are set; keep the second",
    ),
    Case(
        "VC-05",
        {f"{ROLLOUT}.log_prob_{MBS}": 8, f"{ROLLOUT}.log_prob_{MBS}_per_gpu": 8},
        "both rollout.log_prob_micro_batch_size and log_prob_micro_batch_size_per_gpu are set; keep the second",
        good={f"{ROLLOUT}.log_prob_{MBS}_per_gpu": 8},
    ),
    Case(
        "VC-10",
        {f"{ROLLOUT}.log_prob_use_dynamic_bsz": True},
        "actor.use_dynamic_bsz and rollout.log_prob_use_dynamic_bsz must be the same",
    ),
    Case(
        "VC-17",
        {"data.gen_batch_size": 96},
        "train batch 256 is not fetched in whole parts of gen_batch_size 96 (64 left over); with gen_batch_size=64 it fits",
        good={"data.gen_batch_size": 128},
    ),
    Case(
        "VC-19a",
        {**OLD, B: 264, f"{ACTOR}.ppo_mini_batch_size": 64},
        "264·1 = 264 samples of a step do not divide among dp16 (8 left over); with train_batch_size=256 it fits",
        also=("VC-03",),
        good=OLD,
    ),
    Case(
        "VC-19b",
        {**OLD, f"{ROLLOUT}.agent.num_workers": 6},
        "256·1 = 256 samples of a step do not divide among 6 agent loop workers (4 left over); with train_batch_size=240 it fits",
        good={**OLD, f"{ROLLOUT}.agent.num_workers": 4},
    ),
    Case(
        "VR-05",
        {f"{ROLLOUT}.nnodes": 1, f"{ROLLOUT}.tensor_model_parallel_size": 3},
        "1·8 = 8 rollout GPUs do not divide into replicas of 3 (2 stay idle); with tensor_model_parallel_size=2 it fits",
    ),
    Case(
        "VR-10",
        {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 6},
        "1·6 = 6 GPUs of the teacher do not divide into replicas of 4; with tensor_model_parallel_size=3 it fits",
        good={"distillation.enabled": True, "distillation.nnodes": 1},
    ),
    Case(
        "VF-10",
        {TURBO: 2, f"{ACTOR}.ulysses_sequence_parallel_size": 2},
        "FSDP-turbo shares a sequence among 2 ranks itself, so verl's own Ulysses must be 1, not sp2; with SP=1 it fits",
        good={TURBO: 2},
    ),
]
ALL = [(CORE, CORE_CASES), (LITE, LITE_CASES), (VERL, VERL_CASES)]


@pytest.mark.parametrize(("bench", "case"), [(b, c) for b, cases in ALL for c in cases], ids=label)
def test_a_constraint_and_its_legal_twin(bench: Bench, case: Case) -> None:
    bench.assert_case(case)


@pytest.mark.parametrize("bench", [bench for bench, _ in ALL], ids=label)
def test_legal_settings_are_silent(bench: Bench) -> None:
    assert bench.mesh().violations == ()


@pytest.mark.parametrize(
    ("machine", "found"), [({"max_connections": 8}, []), ({"max_connections": 1}, ["MC-19"]), ({}, [])]
)
def test_fsdp_and_the_connections_of_a_device(machine: dict[str, int], found: list[str]) -> None:
    mesh = Bench(CORE.backend, FSDP2, CORE.program, CORE.world, machine).mesh()

    assert [violation.constraint.id for violation in mesh.violations] == found


@pytest.mark.parametrize(
    ("value", "count"), [("MM-", 1), ("M|M*-|M", 3), ("M|M/MM|M", 2), (["M", "M"], None), ("<unknown>", None)]
)
def test_segments_of_a_hybrid_pattern(value: object, count: int | None) -> None:
    assert megatron_options.segments(value) == count


@pytest.mark.parametrize(("value", "size"), [([2, 4], 8), (4, 4), ("4", 4), (["2", "x"], None), ("x", None)])
def test_the_product_of_levels(value: object, size: int | None) -> None:
    assert megatron_options.product(value) == size


@pytest.mark.parametrize(("value", "size"), [([0, 0, 4], 3), (4, 1), ("[0]*3", None)])
def test_the_length_of_a_list(value: object, size: int | None) -> None:
    assert megatron_options.length(value) == size
