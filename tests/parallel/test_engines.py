"""The engines of verl: what each asks of the mesh and the model."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import (
    automodel,
    fsdp,
    megatron,
    megatron_lite,
    megatron_lite_options,
    torchtitan,
    veomni,
)

ACTOR = "actor_rollout_ref.actor"
MODEL = "actor_rollout_ref.model.path"
PPO = "verl.trainer.main_ppo"
BASE = {
    "trainer.nnodes": 2,
    "trainer.n_gpus_per_node": 8,
    MODEL: "Qwen/Qwen3-30B-A3B",
    f"{ACTOR}.ppo_micro_batch_size_per_gpu": 4,
}
SP, SIZE = f"{ACTOR}.ulysses_sequence_parallel_size", f"{ACTOR}.fsdp_config.fsdp_size"

FSDP = Bench(fsdp.BACKENDS[0], {**BASE, f"{ACTOR}.strategy": "fsdp2"}, PPO)
FSDP_CASES = [
    Case(
        "VF-01",
        {SP: 3},
        "16 GPUs do not divide into sp3 = 3 (1 left over); with SP=4 it fits, dp=4",
        also=("VF-06",),
    ),
    Case(
        "VF-02",
        {SIZE: 6},
        "16 GPUs do not divide into shards of fsdp_size 6 (4 left over); with fsdp_size=4 it fits",
    ),
    Case("VF-04", {SIZE: 0}, "fsdp_size = 0 is no number of ranks; -1 takes all; with fsdp_size=-1 it fits"),
    Case(
        "VF-05",
        {SP: 2, "actor_rollout_ref.model.use_remove_padding": False},
        "Ulysses sp2 needs use_remove_padding=True; with SP=1 it fits",
    ),
    Case(
        "VF-06",
        {SP: 8, MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among Ulysses sp8 (4 left over); with SP=4 it fits",
        also=(),
    ),
    Case(
        "VF-07",
        {SP: 4, MODEL: "odd"},
        "6 KV heads and Ulysses sp4: neither divides the other; with SP=2 it fits",
    ),
]

EP = "expert_parallel_size"
VEOMNI = Bench(veomni.BACKENDS[0], {**BASE, f"{ACTOR}.strategy": "veomni"}, PPO)
VEOMNI_CASES = [
    Case(
        "VO-01a",
        {f"{ACTOR}.veomni.ulysses_parallel_size": 3},
        "16 GPUs do not divide into sp3 = 3 (1 left over); with SP=4 it fits, dp=4",
        also=("VE-07a",),
    ),
    Case(
        "VO-01b",
        {f"{ACTOR}.veomni.fsdp_size": 6},
        "dp16 does not divide into shards of fsdp_size 6 (4 left over); with fsdp_size=4 it fits",
    ),
    Case(
        "VO-01c",
        {f"{ACTOR}.veomni.fsdp_size": 0},
        "fsdp_size = 0 is no number of ranks; -1 takes all; with fsdp_size=-1 it fits",
    ),
    Case(
        "VE-06",
        {f"{ACTOR}.veomni.{EP}": 32},
        "16·sp1 = 16 sharded ranks do not divide into ep32 (16 left over); with EP=16 it fits",
    ),
    Case(
        "VE-07a",
        {f"{ACTOR}.veomni.ulysses_parallel_size": 8, MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among Ulysses sp8 (4 left over); with SP=4 it fits",
    ),
    Case(
        "VE-07b",
        {f"{ACTOR}.veomni.ulysses_parallel_size": 4, MODEL: "odd"},
        "6 KV heads and Ulysses sp4: neither divides the other; with SP=2 it fits",
    ),
    Case(
        "VE-08",
        {f"{ACTOR}.veomni.{EP}": 8, MODEL: "odd"},
        "12 experts do not divide among ep8 (4 left over); with EP=4 it fits",
    ),
]

TP, CP, PP = "tp_size", "cp_size", "pp_size"
AUTOMODEL = Bench(automodel.BACKENDS[0], {**BASE, f"{ACTOR}.strategy": "automodel"}, PPO)


def _engine(**sizes: object) -> dict[str, object]:
    return {f"{ACTOR}.engine.{name}": size for name, size in sizes.items()}


AUTOMODEL_CASES = [
    Case(
        "VO-02",
        _engine(pp_size=2),
        "verl runs Automodel without pipeline stages, but pp = 2; with PP=1 it fits",
    ),
    Case(
        "AM-01",
        _engine(cp_size=3),
        "16 GPUs do not divide into tp1·cp3·pp1 = 3 (1 left over); with CP=4 it fits, dp=4",
    ),
    Case(
        "AM-02a",
        _engine(dp_replicate_size=3),
        "dp16 does not divide into 3 replicas (1 left over); with dp_replicate_size=2 it fits",
    ),
    Case(
        "AM-02b",
        _engine(dp_replicate_size=16),
        "dp_replicate_size 16 leaves nothing to shard of dp16; with dp_replicate_size=8 it fits",
    ),
    Case(
        "AM-03",
        _engine(ep_size=32),
        "dp16·cp1·tp1 = 16 ranks do not divide into ep32 (16 left over); with EP=16 it fits",
    ),
    Case(
        "AM-04a",
        _engine(distributed_strategy="megatron_fsdp", ep_size=2),
        "megatron_fsdp has neither pipeline nor expert parallel ranks, but pp = 1 and ep = 2; with EP=1 it fits",
    ),
    Case(
        "AM-04b",
        _engine(distributed_strategy="ddp", tp_size=2),
        "ddp has data parallel ranks only, but tp = 2, cp = 1, pp = 1, ep = 1; with TP=1 it fits",
    ),
    Case(
        "AM-05",
        {**_engine(ep_size=8), MODEL: "odd"},
        "12 experts do not divide among ep8 (4 left over); with EP=4 it fits",
    ),
    Case(
        "AM-06",
        _engine(tp_size=8),
        "32 attention and 4 KV heads do not both divide among tp8; with TP=4 it fits",
    ),
]

TITAN = Bench(
    torchtitan.BACKENDS[0],
    {**BASE, f"{ACTOR}.strategy": "torchtitan", f"{ACTOR}.torchtitan.data_parallel_shard_size": 16},
    PPO,
)


def _titan(**sizes: object) -> dict[str, object]:
    return {f"{ACTOR}.torchtitan.{name}": size for name, size in sizes.items()}


TITAN_CASES = [
    Case(
        "TT-01a",
        _titan(data_parallel_shard_size=1),
        "dp_replicate1·dp_shard1·cp1·tp1·pp1 = 1, but there are 16 ranks; with SHARDS=16 it fits",
    ),
    Case(
        "TT-01b",
        _titan(data_parallel_shard_size=-1, context_parallel_size=3),
        "16 GPUs do not divide into dp_replicate1·cp3·tp1·pp1 = 3 (1 left over); with CP=4 it fits",
    ),
    Case(
        "TT-02",
        _titan(expert_parallel_size=32),
        "dp_shard16·cp1·tp1 = 16 ranks do not divide into ep32 (16 left over); with EP=16 it fits",
    ),
    Case(
        "TT-05a",
        _titan(tensor_parallel_size=8, data_parallel_shard_size=2),
        "32 attention and 4 KV heads do not both divide among tp8; with SHARDS=4 and TP=4 it fits",
    ),
    Case(
        "TT-05b",
        {**_titan(expert_parallel_size=8), MODEL: "odd"},
        "12 experts do not divide among ep8 (4 left over); with EP=4 it fits",
    ),
]

LITE = Bench(megatron_lite.ACTOR_BACKEND, {**BASE, "actor@actor_rollout_ref.actor": "mlite_actor"}, PPO)
GLM, DS4, GDN, KIMI = (
    {MODEL: name}
    for name in (
        "zai-org/GLM-5",
        "deepseek-ai/DeepSeek-V4-Flash",
        "Qwen/Qwen3.5-35B-A3B",
        "moonshotai/Kimi-K2",
    )
)
LITE_CASES = [
    Case(
        "ML-01",
        _engine(cp=12),
        "16 GPUs do not divide into tp1·cp12·pp1 = 12 (4 left over); with CP=16 it fits, dp=1",
    ),
    Case("ML-02", _engine(ep=32), "16 GPUs cannot hold etp1·ep32·pp1 = 32; with EP=16 it fits, edp=1"),
    Case(
        "ML-05",
        _engine(vpp=2),
        "vpp = 2, but Megatron Lite has no virtual pipeline stages; with VPP=1 it fits",
    ),
    Case(
        "ML-07",
        {**_engine(pp=64), "trainer.nnodes": 8},
        "48 layers with embedding and loss leave the last of pp64 stages without a layer; with PP=16 it fits",
    ),
    Case(
        "ML-08",
        {**_engine(pp=32), **DS4, "trainer.nnodes": 8, "actor_rollout_ref.model.mtp.enable": True},
        "with 43 layers on pp32 stages the MTP layer is not on the last one; with PP=16 it fits",
    ),
    Case(
        "ML-12",
        {**_engine(tp=2), **GLM},
        "Megatron Lite runs this model with tp 1 and etp 1 only, not tp2 and etp1; with TP=1 it fits",
    ),
    Case(
        "ML-15",
        {**_engine(ep=8), MODEL: "odd"},
        "12 experts do not divide among ep8 (4 left over); with EP=4 it fits",
    ),
    Case(
        "ML-16",
        {**_engine(tp=16), MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among tp16 (12 left over); with TP=4 it fits",
        also=("ML-17", "ML-35", "XN-01"),
    ),
    Case(
        "ML-17",
        _engine(tp=8),
        "4 KV heads do not divide among tp8, and Megatron Lite does not replicate them; with TP=4 it fits",
    ),
    Case(
        "ML-20",
        {**_engine(tp=4), MODEL: "odd-gdn"},
        "the gated delta net has 6 key and 12 value heads, which do not divide among tp4; with TP=2 it fits",
        good=GDN,
    ),
    Case(
        "ML-21",
        {**_engine(cp=32), **GDN, "trainer.nnodes": 4},
        "16 key heads of the gated delta net on a tp rank do not divide among cp32; with CP=16 it fits",
        good=GDN,
    ),
    Case("ML-23", _engine(cp=32), "16 GPUs cannot hold tp1·cp32·pp1 = 32; with CP=16 it fits, dp=1"),
]

MTP, MPP = "tensor_model_parallel_size", "pipeline_model_parallel_size"
OVERRIDE = "override_transformer_config"
CORE = Bench(megatron.ACTOR_BACKEND, {**BASE, "model_engine": "megatron"}, PPO)


def _core(**sizes: object) -> dict[str, object]:
    return {f"{ACTOR}.megatron.{name}": size for name, size in sizes.items()}


FIRST = f"{ACTOR}.megatron.{OVERRIDE}.num_layers_in_first_pipeline_stage"
LAST = f"{ACTOR}.megatron.{OVERRIDE}.num_layers_in_last_pipeline_stage"
VPP = "virtual_pipeline_model_parallel_size"
STAGED = {MPP: 2, VPP: 2}
DYNAMIC_CP = _core(dynamic_context_parallel=True, max_seqlen_per_dp_cp_rank=4096)
CORE_CASES = [
    Case("VM-03", _core(use_mbridge=False), "verl's Megatron engine needs use_mbridge=True"),
    Case(
        "VM-06a",
        {**DYNAMIC_CP, **_core(tensor_model_parallel_size=16), MODEL: "odd-lite"},
        "dynamic context parallel needs an even number of dp·cp ranks, not dp1·cp1 = 1; with TP=8 it fits",
        also=("XN-01",),
        good=DYNAMIC_CP,
    ),
    Case(
        "VM-06b",
        {**DYNAMIC_CP, **_core(**STAGED)},
        "dynamic context parallel runs without virtual stages, but vpp = 2; with VPP unset it fits",
        good={**DYNAMIC_CP, **_core(**{**STAGED, VPP: 1})},
    ),
    Case(
        "VM-06c",
        _core(dynamic_context_parallel=True),
        "dynamic context parallel needs max_seqlen_per_dp_cp_rank",
        good=DYNAMIC_CP,
    ),
    Case(
        "VM-08",
        {"actor_rollout_ref.model.mtp.enable": True},
        "the model has no MTP layers, so model.mtp.enable must be False",
        good={"actor_rollout_ref.model.mtp.enable": True, **DS4},
    ),
    Case(
        "VC-02a",
        _core(context_parallel_size=3),
        "16 GPUs do not divide into tp1·cp3·pp1 = 3 (1 left over); with CP=4 it fits, dp=4",
    ),
    Case(
        "VC-02b",
        {"data.train_batch_size": 1000},
        "1000·1 = 1000 samples of a step do not divide among dp16·micro batch 4 = 64 (40 left over); with train_batch_size=1024 it fits",
        also=("VC-16",),
    ),
    Case(
        "MC-31",
        {**_core(context_parallel_size=3), f"{ACTOR}.use_dynamic_bsz": True},
        "16 GPUs do not divide into tp1·cp3·pp1 = 3 (1 left over); with CP=4 it fits, dp=4",
    ),
    Case(
        "MC-33",
        _core(virtual_pipeline_model_parallel_size=2),
        "vpp = 2 needs more than one pipeline stage, but pp = 1; with VPP unset it fits",
        good=_core(**STAGED),
    ),
    Case(
        "MC-32",
        _core(expert_model_parallel_size=32),
        "16 GPUs cannot hold etp1·ep32·pp1 = 32; with EP=16 it fits, edp=1",
    ),
    Case(
        "MC-40",
        {**_core(tensor_model_parallel_size=8), MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among tp8 (4 left over); with TP=4 it fits",
    ),
    Case(
        "MC-41",
        {**_core(tensor_model_parallel_size=4), MODEL: "odd"},
        "6 query groups and tp4: neither divides the other; with TP=2 it fits",
    ),
    Case(
        "MC-42",
        {**_core(tensor_model_parallel_size=4), MODEL: "odd-gdn"},
        "the gated delta net has 6 key and 12 value heads, which do not divide among tp4; with TP=2 it fits",
        good=GDN,
    ),
    Case(
        "MC-43",
        {**_core(tensor_model_parallel_size=2), **DS4},
        "DeepSeek-V4 cannot be split over tensor parallel ranks, but tp = 2; with TP=1 it fits",
    ),
    Case(
        "MC-57",
        {**_core(expert_model_parallel_size=8), MODEL: "odd"},
        "12 experts do not divide among ep8 (4 left over); with EP=4 it fits",
    ),
    Case(
        "MC-47a",
        {**_core(pipeline_model_parallel_size=2), FIRST: 24, LAST: 23},
        "1 layers remain for 0 middle stages; with num_layers_in_last_pipeline_stage=24 it fits",
    ),
    Case(
        "MC-47b",
        {**_core(pipeline_model_parallel_size=4), LAST: 11},
        "37 layers between the first and the last stage do not divide into 3 stages (1 left over); with num_layers_in_last_pipeline_stage=12 it fits",
    ),
    Case(
        "MC-47c",
        {**_core(pipeline_model_parallel_size=4, virtual_pipeline_model_parallel_size=2), LAST: 9},
        "the first stage's 0 and the last stage's 9 layers do not divide into 2 model chunks; with num_layers_in_last_pipeline_stage=6 it fits",
        good=_core(**STAGED),
    ),
    Case(
        "MC-59",
        {**_core(pipeline_model_parallel_size=4), **KIMI},
        "61 layers do not divide into pp4 stages (1 left over); with num_layers_in_last_pipeline_stage=16 it fits",
    ),
    Case(
        "MC-48",
        _core(pipeline_model_parallel_size=4, virtual_pipeline_model_parallel_size=5),
        "12 layers of a stage do not divide into 5 model chunks (2 left over); with VPP=4 it fits",
        good=_core(**STAGED),
    ),
]
ALL = [
    (FSDP, FSDP_CASES),
    (VEOMNI, VEOMNI_CASES),
    (AUTOMODEL, AUTOMODEL_CASES),
    (TITAN, TITAN_CASES),
    (LITE, LITE_CASES),
    (CORE, CORE_CASES),
]


@pytest.mark.parametrize(("bench", "case"), [(b, c) for b, cases in ALL for c in cases], ids=label)
def test_a_constraint_and_its_legal_twin(bench: Bench, case: Case) -> None:
    bench.assert_case(case)


@pytest.mark.parametrize(("bench", "cases"), ALL, ids=label)
def test_every_rule_of_an_engine_has_a_case(bench: Bench, cases: list[Case]) -> None:
    options = (*megatron_lite_options.RULES, *megatron_lite_options.REFERENCE_RULES)
    elsewhere = {"VF-10", *(rule.id for rule in options)}
    missing = bench.uncovered(cases) - elsewhere
    assert {name for name in missing if not name.startswith(("VC-", "VR-", "VL-"))} == set()


@pytest.mark.parametrize("bench", [bench for bench, _ in ALL], ids=label)
def test_legal_settings_are_silent(bench: Bench) -> None:
    assert bench.mesh().violations == ()


def test_a_launcher_that_fails_as_shipped() -> None:
    # DeepSeek-V4 on one node with pp 4, cp 4 and ep 8.
    mesh = LITE.mesh({**_engine(pp=4, cp=4, ep=8), **DS4, "trainer.nnodes": 1})
    assert [violation.constraint.id for violation in mesh.violations] == ["ML-23", "ML-02"]


def test_layers_of_a_first_and_a_last_stage_of_their_own() -> None:
    # DeepSeek-V3 on 96 GPUs with tp 8, pp 12 and 6 layers on the last stage: (61 - 6) / 11 = 5.
    sizes = _core(tensor_model_parallel_size=8, pipeline_model_parallel_size=12)
    v3 = {**sizes, MODEL: "deepseek-ai/DeepSeek-V3", "trainer.nnodes": 12}
    assert CORE.mesh({**v3, LAST: 6}).violations == ()
    assert [violation.constraint.id for violation in CORE.mesh(v3).violations] == ["MC-59"]


def test_a_layout_takes_the_place_of_equal_stages() -> None:
    layout = {f"{ACTOR}.megatron.{OVERRIDE}.pipeline_model_parallel_layout": "Et*15|t*15|t*16|t*15L"}
    assert CORE.mesh({**_core(pipeline_model_parallel_size=4), **KIMI, **layout}).violations == ()
