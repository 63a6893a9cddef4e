"""Trainers and servers outside verl: what each asks of the mesh, the rollout and the batch."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import (
    automodel,
    deepspeed,
    miles,
    mindspeed,
    nemo_rl,
    openrlhf,
    plans,
    serving,
    skyrl,
    torchtitan,
    veomni,
)
from example_sanity.parallel.keys import WHOLE

PLACE, ENGINE = "trainer.placement", "generator.inference_engine"
_SKYRL = {
    f"{PLACE}.policy_num_nodes": 2,
    f"{PLACE}.policy_num_gpus_per_node": 8,
    f"{PLACE}.ref_num_nodes": 2,
    f"{PLACE}.ref_num_gpus_per_node": 8,
    f"{ENGINE}.num_engines": 4,
    f"{ENGINE}.tensor_parallel_size": 4,
    "trainer.train_batch_size": 256,
    "trainer.policy_mini_batch_size": 64,
    "generator.n_samples_per_prompt": 5,
    "trainer.micro_train_batch_size_per_gpu": 4,
    "trainer.policy.model.path": "odd",
}
CRITIC = "trainer.critic.model.path"
N = "generator.n_samples_per_prompt"
B, M, MBS = (
    "trainer.train_batch_size",
    "trainer.policy_mini_batch_size",
    "trainer.micro_train_batch_size_per_gpu",
)
SP, RTP, REP = (
    "trainer.policy.sequence_parallel_size",
    f"{ENGINE}.tensor_parallel_size",
    f"{ENGINE}.expert_parallel_size",
)
EXECUTOR, NODES = f"{ENGINE}.distributed_executor_backend", f"{PLACE}.policy_num_nodes"
SKYRL = Bench(skyrl.BACKENDS[0], _SKYRL, "skyrl.train.entrypoints.main_base")
SKYRL_CASES = [
    Case(
        "SK-02",
        {SP: 3, M: 60, B: 240},
        "16 GPUs do not divide into sp3 = 3 (1 left over); with SP=16 it fits, dp=1",
    ),
    Case(
        "SK-12",
        {"trainer.policy.fsdp_config.fsdp_size": 6},
        "16 GPUs do not divide into shards of fsdp_size 6 (4 left over); with fsdp_size=4 it fits",
    ),
    Case(
        "SK-03a",
        {B: 32},
        "train batch 32 is smaller than the mini batch 64; with train_batch_size=64 it fits",
    ),
    Case(
        "SK-03b",
        {B: 280},
        "train batch 280 does not divide into mini batches of 64 (24 left over); with train_batch_size=256 it fits",
    ),
    Case(
        "SK-04a",
        {M: 2, MBS: 1},
        "2·5 = 10 samples of a mini batch leave none for each of dp16 ranks; with policy_mini_batch_size=4 it fits",
    ),
    Case(
        "SK-04b",
        {MBS: 3},
        "20 samples of a rank do not divide into micro batches of 3 (2 left over); with micro_train_batch_size_per_gpu=2 it fits",
    ),
    Case(
        "SK-05",
        {M: 11, B: 33, MBS: 1},
        "33·5 // dp16 = 10 samples of a rank do not divide into mini batches of 11·5 // 16 = 3; with policy_mini_batch_size=33 it fits",
        also=("SK-15b",),
    ),
    Case(
        "SK-06",
        {M: 16, B: 16, MBS: 1, f"{PLACE}.ref_num_gpus_per_node": 7},
        "16·5 = 80 samples of a step are fewer than 112, which dp16 and the reference's dp14 share; with train_batch_size=112 it fits",
        also=("SK-13",),
    ),
    Case(
        "SK-13",
        {f"{PLACE}.ref_num_nodes": 1},
        "16 policy GPUs, but the reference policy has 1·8 = 8 of those that they share; with ref_num_nodes=2 it fits",
    ),
    Case(
        "SK-14",
        {CRITIC: "odd"},
        "16 policy GPUs, but the critic has 1·1 = 1 of those that they share; with critic_num_gpus_per_node=16 it fits",
        good={CRITIC: "odd", f"{PLACE}.critic_num_nodes": 2, f"{PLACE}.critic_num_gpus_per_node": 8},
    ),
    Case(
        "SK-15a",
        {B: 4, M: 4, MBS: 1},
        "of the 4 prompts of a step a multiple of 16 is kept, so that samples divide among dp: none; with train_batch_size=16 it fits",
    ),
    Case(
        "SK-15b",
        {B: 24, M: 8, MBS: 1, N: 3},
        "of the 24 prompts of a step a multiple of 16 is kept, so that samples divide among dp: 8 are dropped; with train_batch_size=16 it fits",
    ),
    Case(
        "SK-09",
        {f"{ENGINE}.num_engines": 2},
        "16 policy GPUs, but 2 engines of tp4·pp1·dp1 take 8; with num_engines=4 it fits",
    ),
    Case(
        "SK-10",
        {REP: 8},
        "inference ep8 must be dp1·tp4 = 4; with expert_parallel_size=4 it fits",
        good={REP: 4},
    ),
    Case(
        "SK-11",
        {RTP: 16, f"{ENGINE}.num_engines": 1, EXECUTOR: "mp"},
        "an engine of tp16·pp1 = 16 GPUs with the mp executor does not fit a node of 8",
        good={EXECUTOR: "mp"},
    ),
]

CONFIG = "trainer.policy.megatron_config"


def _megatron(**sizes: object) -> dict[str, object]:
    return {f"{CONFIG}.{name}": size for name, size in sizes.items()}


LAST = f"{CONFIG}.transformer_config_kwargs.num_layers_in_last_pipeline_stage"
FIRST = f"{CONFIG}.transformer_config_kwargs.num_layers_in_first_pipeline_stage"
MODEL = "trainer.policy.model.path"
SKYRL_CORE = Bench(skyrl.BACKENDS[1], {**_SKYRL, "trainer.strategy": "megatron", MODEL: "Qwen/Qwen3-30B-A3B"})
SKYRL_CORE_CASES = [
    Case(
        "SK-01",
        _megatron(context_parallel_size=3),
        "16 GPUs do not divide into tp1·cp3·pp1 = 3 (1 left over); with CP=4 it fits, dp=4",
    ),
    Case("SK-07a", {"trainer.critic.model.path": "Qwen/Qwen3-8B"}, "SkyRL trains no critic on Megatron"),
    Case(
        "SK-07b",
        {SP: 2},
        "SkyRL has no Ulysses on Megatron, but trainer.policy.sequence_parallel_size = 2; with sequence_parallel_size=1 it fits",
    ),
    Case(
        "MC-32",
        _megatron(expert_model_parallel_size=32),
        "16 GPUs cannot hold etp1·ep32·pp1 = 32; with EP=16 it fits, edp=1",
    ),
    Case(
        "MC-40",
        {**_megatron(tensor_model_parallel_size=8), MODEL: "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among tp8 (4 left over); with TP=4 it fits",
    ),
    Case(
        "MC-59",
        {**_megatron(pipeline_model_parallel_size=4), MODEL: "moonshotai/Kimi-K2.5"},
        "61 layers do not divide into pp4 stages (1 left over); with num_layers_in_last_pipeline_stage=16 it fits",
    ),
    Case(
        "MC-47b",
        {**_megatron(pipeline_model_parallel_size=4), LAST: 11},
        "37 layers between the first and the last stage do not divide into 3 stages (1 left over); with num_layers_in_last_pipeline_stage=12 it fits",
    ),
]

OPENRLHF = Bench(
    openrlhf.BACKENDS[0],
    {
        "actor.num_gpus_per_node": 8,
        "vllm.num_engines": 4,
        "vllm.tensor_parallel_size": 2,
        "train.colocate_all": True,
        "train.micro_batch_size": 4,
        "rollout.micro_batch_size": 4,
        "rollout.n_samples_per_prompt": 8,
    },
    "openrlhf.cli.train_ppo_ray",
)
OPENRLHF_CASES = [
    Case(
        "OR-01",
        {"vllm.num_engines": 2},
        "8 actor GPUs, but 2 vLLM engines of tp2 take 4; with num_engines=4 it fits",
    ),
    Case(
        "OR-02",
        {"ref.num_gpus_per_node": 4},
        "the actor has 1·8 GPUs and the reference model 1·4, but they share them; with num_gpus_per_node=8 it fits",
    ),
    Case(
        "OR-03",
        {"rollout.batch_size": 2, "rollout.micro_batch_size": 8},
        "2·8 samples in micro batches of 8 leave some of dp8 ranks without one; with batch_size=8 it fits",
    ),
    Case(
        "OR-04",
        {"ds.ring_attn_size": 3},
        "8 GPUs do not divide into tp1·ring3 = 3 (2 left over); with RING=4 it fits, dp=2",
    ),
    Case(
        "OR-05a",
        {"train.batch_size": 16},
        "train batch 16 is less than one micro batch of 4 for each of dp8 ranks, so there are 0 accumulation steps; with batch_size=32 it fits",
    ),
    Case(
        "OR-05b",
        {"train.batch_size": 144},
        "train batch 144 is no whole number of micro batches of 4 on dp8 (16 left over); with batch_size=128 it fits",
    ),
]
SFT = Bench(
    openrlhf.BACKENDS[1],
    {"train.batch_size": 256, "train.micro_batch_size": 2},
    "openrlhf.cli.train_sft",
    world=8,
)
SFT_CASES = [
    Case(
        "OR-04",
        {"ds.tensor_parallel_size": 3},
        "8 GPUs do not divide into tp3·ring1 = 3 (2 left over); with TP=4 it fits, dp=2",
    ),
    Case(
        "OR-05a",
        {"train.batch_size": 8},
        "train batch 8 is less than one micro batch of 2 for each of dp8 ranks, so there are 0 accumulation steps; with batch_size=16 it fits",
    ),
    Case(
        "OR-05b",
        {},
        "train batch 256 is no whole number of micro batches of 2 on dp7 (4 left over); with batch_size=252 it fits",
        world=7,
    ),
]

NEMO = Bench(
    nemo_rl.BACKENDS[0],
    {
        WHOLE: True,
        "cluster.num_nodes": 2,
        "cluster.gpus_per_node": 8,
        "policy.megatron_cfg.enabled": True,
        "policy.megatron_cfg.tensor_model_parallel_size": 2,
        "policy.train_micro_batch_size": 4,
        "policy.logprob_batch_size": 4,
        "policy.generation.vllm_cfg.tensor_parallel_size": 4,
        "grpo.num_prompts_per_step": 32,
        "grpo.num_generations_per_prompt": 8,
        "policy.model_name": "Qwen/Qwen3-30B-A3B",
    },
    "examples/run_grpo.py",
)
_CFG, _GENERATION = "policy.megatron_cfg", "policy.generation.vllm_cfg"
ASYNC = "grpo.async_grpo.enabled"
NEMO_CASES = [
    Case(
        "NR-01",
        {f"{_CFG}.context_parallel_size": 3},
        "16 GPUs do not divide into tp2·cp3·pp1 = 6 (4 left over); with CP=4 it fits, dp=2",
    ),
    Case(
        "NR-02",
        {f"{_CFG}.tensor_model_parallel_size": 4, "policy.logprob_batch_size": 8},
        "with tp4 the micro batch 4 of training must be that of log probabilities, 8; with logprob_batch_size=4 it fits",
    ),
    Case(
        "NR-03a",
        {f"{_GENERATION}.tensor_parallel_size": 3},
        "16 GPUs do not divide into engines of tp3·pp1 = 3 (1 left over); with tensor_parallel_size=2 it fits",
    ),
    Case(
        "NR-03b",
        {f"{_GENERATION}.expert_parallel_size": 6},
        "generation ep6 does not divide by tp4 (2 left over); with expert_parallel_size=4 it fits",
    ),
    Case(
        "NR-03c",
        {f"{_GENERATION}.pipeline_parallel_size": 2},
        "generation pp2 needs policy.generation.vllm_cfg.async_engine=true",
    ),
    Case(
        "NR-04",
        {ASYNC: True, "grpo.num_prompts_per_step": 33, "grpo.num_generations_per_prompt": 1},
        "33·1 = 33 samples of a step do not divide among dp8 (1 left over); with num_prompts_per_step=32 it fits",
    ),
    Case(
        "MC-32",
        {f"{_CFG}.expert_model_parallel_size": 32},
        "16 GPUs cannot hold etp1·ep32·pp1 = 32; with EP=16 it fits, edp=1",
    ),
]

MILES = Bench(
    miles.BACKENDS[0],
    {
        "actor-num-nodes": 1,
        "rollout-batch-size": 32,
        "global-batch-size": 32,
        "eval-num-gpus": 4,
        "eval-num-gpus-per-engine": 2,
    },
    "train.py",
)
DS4, GATHER, REPLAY = (
    {"experimental-attention-variant": "dsv4_hybrid"},
    "allgather-cp",
    "use-rollout-indexer-replay",
)
CP = "context-parallel-size"
MILES_CASES = [
    Case(
        "MI-04",
        {"eval-num-gpus": 3},
        "3 evaluation GPUs do not divide into engines of 2 (1 left over); with eval-num-gpus=2 it fits",
    ),
    Case(
        "MI-05a",
        {**DS4, CP: 2},
        "DeepSeek-V4 with cp2 needs --allgather-cp; with CP=1 it fits",
        good={**DS4, CP: 2, GATHER: True},
    ),
    Case(
        "MI-05b",
        {REPLAY: True, CP: 2},
        "--use-rollout-indexer-replay runs without context parallel, but cp = 2; with CP=1 it fits",
        good={REPLAY: True},
    ),
]
MILES_FSDP = Bench(miles.BACKENDS[1], {**MILES.base, "train-backend": "fsdp"}, "train.py")
MILES_FSDP_CASES = [
    Case(
        "MI-02",
        {CP: 2},
        "the FSDP backend runs without context parallel, but cp = 2; with context-parallel-size=1 it fits",
    ),
    Case(
        "MI-03",
        {"dp-replicate-size": 3},
        "8 GPUs do not divide into replicas3 = 3 (2 left over); with REPLICAS=4 it fits, dp=2",
    ),
]

_NPU = {
    "disable-bias-linear": True,
    "tensor-model-parallel-size": 2,
    CP: 4,
    "context-parallel-algo": "megatron_cp_algo",
    "num-layers": 24,
    "num-attention-heads": 32,
    "seq-length": 4096,
    "micro-batch-size": 1,
    "global-batch-size": 64,
    "num-experts": 64,
}
MINDSPEED = Bench(mindspeed.BACKENDS[0], _NPU, "pretrain_gpt.py", world=64)
ULYSSES = {"context-parallel-algo": "ulysses_cp_algo"}
HYBRID = {"context-parallel-algo": "hybrid_cp_algo", "ulysses-degree-in-cp": 2}
GATHERED = {"context-parallel-algo": "kvallgather_cp_algo"}
DUAL = {"schedules-method": "dualpipev", "pipeline-model-parallel-size": 4, CP: 1}
FLAT = {"tp-2d": True, "tp-x": 2, "tp-y": 1}
MINDSPEED_CASES = [
    Case(
        "MS-01",
        {"seq-length": 4100},
        "sequence length 4100 does not divide into 2·cp4 = 8 chunks (4 left over); with CP=2 it fits",
    ),
    Case(
        "MS-02a",
        {**ULYSSES, "seq-length": 4098},
        "sequence length 4098 does not divide among cp4 (2 left over); with CP=2 it fits",
        good=ULYSSES,
    ),
    Case(
        "MS-02b",
        {**ULYSSES, "num-attention-heads": 28},
        "28 attention heads do not divide among cp4·tp2 = 8 (4 left over); with CP=2 it fits",
        good=ULYSSES,
    ),
    Case(
        "MS-03a",
        {**HYBRID, "ulysses-degree-in-cp": 4},
        "cp4 does not make rings of more than one rank with --ulysses-degree-in-cp 4; with ulysses-degree-in-cp=2 it fits",
        good=HYBRID,
    ),
    Case(
        "MS-03b",
        {**HYBRID, "num-attention-heads": 30},
        "30 attention heads do not divide among Ulysses 2·tp2 = 4 (2 left over); with TP=1 it fits",
        good=HYBRID,
    ),
    Case(
        "MS-03c",
        {**HYBRID, "seq-length": 4100},
        "sequence length 4100 does not divide into 2·cp4 = 8 chunks (4 left over); with CP=1 it fits",
        good=HYBRID,
    ),
    Case(
        "MS-03d",
        {**HYBRID, "cp-window-size": 2},
        "--cp-window-size 2 does not divide rings of 2 ranks; with cp-window-size=1 it fits",
        good=HYBRID,
    ),
    Case(
        "MS-04",
        {**GATHERED, "seq-length": 4100},
        "sequence length 4100 does not divide into 8 chunks for cp4; with CP=2 it fits",
        good={**GATHERED, "seq-length": 4100, "reset-attention-mask": True},
    ),
    Case(
        "MS-05a",
        {**DUAL, "pipeline-model-parallel-size": 1},
        "dualpipev needs more than one stage and neither virtual stages, context parallel nor 2-D tensor parallel, but pp = 1 and cp = 1; with PP=2 it fits",
        good=DUAL,
    ),
    Case(
        "MS-05b",
        {**DUAL, "num-layers": 4},
        "4 layers are fewer than two for each of pp4 stages of dualpipev; with PP=2 it fits",
        good=DUAL,
    ),
    Case(
        "MS-05c",
        {**DUAL, "global-batch-size": 32},
        "4 micro batches are fewer than the 7 that dualpipev needs on pp4 stages; with global-batch-size=56 it fits",
        good=DUAL,
    ),
    Case("MS-06a", {**FLAT, "tp-y": 2}, "tp2 is not tp_x 2·tp_y 2; with tp-y=1 it fits", good=FLAT),
    Case(
        "MS-06b",
        {**FLAT, "expert-model-parallel-size": 2},
        "2-D tensor parallel runs without expert parallel, but ep = 2; with EP=1 it fits",
        good=FLAT,
    ),
    Case(
        "MS-07",
        {"moe-tp-extend-ep": True, "num-experts": 65},
        "65 experts do not divide among tp2·ep1 = 2 (1 left over); with TP=1 it fits",
        good={"moe-tp-extend-ep": True},
    ),
]

DEEPSPEED = Bench(
    deepspeed.BACKENDS[0],
    {
        "train_batch_size": 64,
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": 4,
        "seq_length": 4096,
        "model_name_or_path": "Qwen/Qwen3-8B",
    },
    "train.py",
    world=8,
)
WIDE = {"train_batch_size": 8}
DEEPSPEED_CASES = [
    Case(
        "DS-01",
        {"train_batch_size": 256},
        "train_batch_size 256 is not micro batch 2·accumulation 4·dp7 = 56; with train_batch_size=56 it fits",
        world=7,
    ),
    Case(
        "DS-04",
        {"sequence_parallel_size": 16},
        "8 GPUs do not divide into sequence parallel groups of 16 (8 left over); with SP=1 it fits",
    ),
    Case(
        "DS-05a",
        {"sequence_parallel_size": 8, "model_name_or_path": "Qwen/Qwen2.5-7B", **WIDE},
        "28 attention heads do not divide among Ulysses sp8 (4 left over); with PP=2 and SP=4 it fits",
    ),
    Case(
        "DS-05b",
        {"sequence_parallel_size": 4, "model_name_or_path": "odd", "train_batch_size": 16},
        "6 KV heads and Ulysses sp4: neither divides the other; with PP=2 and SP=2 it fits",
    ),
    Case(
        "DS-06",
        {"sequence_parallel_size": 8, "seq_length": 4100, **WIDE},
        "sequence length 4100 does not divide among sp8 (4 left over); with seq_length=4096 it fits",
    ),
    Case(
        "DS-08a",
        {"tensor_parallel.autotp_size": 3},
        "8 GPUs do not divide into tp3·pp1 = 3 (2 left over); with TP=1 it fits",
    ),
    Case(
        "DS-08b",
        {"expert_parallel_size": 16},
        "8 data parallel ranks do not divide into ep16 (8 left over); with EP=8 it fits",
    ),
]

VLLM = Bench(serving.BACKENDS[0], {"tensor-parallel-size": 4, "model": "Qwen/Qwen3-30B-A3B", "dp": 2}, "vllm")
LOCAL = "data-parallel-size-local"
VLLM_CASES = [
    Case(
        "VL-01",
        {"tensor-parallel-size": 8, "model": "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among tp8 (4 left over); with TP=4 it fits",
    ),
    Case("VL-02", {"model": "odd"}, "6 KV heads and tp4: neither divides the other; with TP=2 it fits"),
    Case(
        "VL-05",
        {"decode-context-parallel-size": 3},
        "tp4 does not divide into decode context parallel groups of 3 (1 left over); with DCP=4 it fits",
    ),
    Case(
        "VL-06",
        {LOCAL: 4},
        "data_parallel_size_local = 4, but data_parallel_size = 2; with data-parallel-size-local=2 it fits",
        good={LOCAL: 2},
    ),
]
SGLANG = Bench(serving.BACKENDS[1], {"tp-size": 8, "model-path": "Qwen/Qwen3-8B"}, "sglang.launch_server")
ATTENTION = {"enable-dp-attention": True}
SGLANG_CASES = [
    Case("SG-02", {"nnodes": 3}, "tp8·pp1 = 8 ranks do not divide among 3 nodes (2 left over)"),
    Case(
        "SG-03",
        {"nnodes": 2, "dp-size": 2},
        "dp2 makes replicas and needs one node, but nnodes = 2; use --enable-dp-attention across nodes",
        good={"nnodes": 2, "dp-size": 2, **ATTENTION},
    ),
    Case(
        "SG-04",
        {"moe-dense-tp-size": 2},
        "moe-dense-tp-size = 2 must be 1 or tp8; with moe-dense-tp-size=1 it fits",
    ),
    Case("SG-05", {"dp-size": 3, **ATTENTION}, "tp8 does not divide into attention dp3 (2 left over)"),
    Case(
        "SG-07",
        {"model-path": "Qwen/Qwen2.5-7B"},
        "28 attention heads do not divide among attention tp8 (4 left over); with TP=4 it fits",
    ),
]

TITAN = Bench(
    torchtitan.BACKENDS[2],
    {
        WHOLE: True,
        "parallelism.tensor_parallel_degree": 2,
        "training.seq_len": 4096,
        "training.local_batch_size": 1,
        "model.hf_assets_path": "assets/hf/Llama-3.1-8B",
    },
    "torchtitan.train",
    world=8,
)
STAGES, PER_STAGE = "parallelism.pipeline_parallel_degree", "parallelism.pipeline_parallel_layers_per_stage"
TOKENS = "training.num_tokens_per_train_step"
TITAN_CASES = [
    Case(
        "TT-01a",
        {"parallelism.data_parallel_shard_degree": 8},
        "dp_replicate1·dp_shard8·cp1·tp2·pp1 = 16, but there are 8 ranks; with SHARDS=4 it fits",
    ),
    Case(
        "TT-01b",
        {"parallelism.context_parallel_degree": 3},
        "8 GPUs do not divide into dp_replicate1·cp3·tp2·pp1 = 6 (2 left over); with CP=4 it fits",
        also=("TT-03",),
    ),
    Case(
        "TT-02",
        {"parallelism.expert_parallel_degree": 16},
        "dp_shard4·cp1·tp2 = 8 ranks do not divide into ep16 (8 left over); with EP=8 it fits",
    ),
    Case(
        "TT-03",
        {"training.seq_len": 4097},
        "4097 tokens of a micro batch do not divide into 2 parts for tp2 and cp1 (1 left over); with seq_len=4096 it fits",
    ),
    Case(
        "TT-06",
        {STAGES: 2, PER_STAGE: 7},
        "5 virtual stages do not divide among pp2; with pipeline_parallel_layers_per_stage=6 it fits",
        good={STAGES: 2, PER_STAGE: 6},
    ),
    Case(
        "TT-04",
        {TOKENS: 4096 * 6},
        "24576 tokens of a step do not divide into 4096·1 = 4096 on dp4 (8192 left over); with num_tokens_per_train_step=16384 it fits",
        good={TOKENS: 4096 * 8},
    ),
]
AUTOMODEL = Bench(
    automodel.BACKENDS[2],
    {
        WHOLE: True,
        "distributed.tp_size": 2,
        "distributed.dp_size": 4,
        "step_scheduler.global_batch_size": 32,
        "step_scheduler.local_batch_size": 4,
    },
    "recipe.py",
    world=8,
)
AUTOMODEL_CASES = [
    Case(
        "AM-01b",
        {"distributed.dp_size": 8},
        "dp_size 8·tp2·cp1·pp1 = 16, but 8 ranks are launched; with dp_size=4 it fits",
    ),
    Case(
        "AM-07",
        {"step_scheduler.global_batch_size": 40},
        "global batch 40 does not divide into local batches of 4 on dp4 (8 left over); with global_batch_size=32 it fits",
    ),
]
_ACCELERATOR = "train.accelerator"
VEOMNI = Bench(
    veomni.BACKENDS[2],
    {
        WHOLE: True,
        f"{_ACCELERATOR}.ulysses_size": 2,
        "train.micro_batch_size": 2,
        "train.global_batch_size": 32,
    },
    "tasks/train_torch.py",
    world=8,
)
REPLICAS, SHARDS = f"{_ACCELERATOR}.dp_replicate_size", f"{_ACCELERATOR}.dp_shard_size"
VEOMNI_CASES = [
    Case(
        "VE-01",
        {f"{_ACCELERATOR}.ulysses_size": 3},
        "8 GPUs do not divide into sp3·cp1·tp1·pp1 = 3 (2 left over); with SP=4 it fits, dp=2",
    ),
    Case(
        "VE-02",
        {f"{_ACCELERATOR}.tp_size": 2},
        "VeOmni runs neither tensor, pipeline nor context parallel, but tp = 2, pp = 1, cp = 1; with TP=1 it fits",
    ),
    Case(
        "VE-03a",
        {REPLICAS: 2, SHARDS: 4},
        "dp_replicate_size 2·dp_shard_size 4 = 8, but dp = 4; with dp_replicate_size=1 it fits",
        good={REPLICAS: 2, SHARDS: 2},
    ),
    Case(
        "VE-03b",
        {REPLICAS: 3},
        "dp4 does not divide into 3 replicas (1 left over); with dp_replicate_size=2 it fits",
    ),
    Case(
        "VE-03c",
        {SHARDS: 3},
        "dp4 does not divide into shards of 3 (1 left over); with dp_shard_size=2 it fits",
    ),
    Case(
        "VE-04",
        {"train.global_batch_size": 36},
        "global batch 36 does not divide into micro batches of 2 on dp4 (4 left over); with global_batch_size=32 it fits",
    ),
    Case(
        "VE-06",
        {f"{_ACCELERATOR}.ep_size": 16},
        "4·sp2 = 8 sharded ranks do not divide into ep16 (8 left over); with EP=8 it fits",
    ),
]
ALL = [
    (SKYRL, SKYRL_CASES),
    (SKYRL_CORE, SKYRL_CORE_CASES),
    (OPENRLHF, OPENRLHF_CASES),
    (SFT, SFT_CASES),
    (NEMO, NEMO_CASES),
    (MILES, MILES_CASES),
    (MILES_FSDP, MILES_FSDP_CASES),
    (MINDSPEED, MINDSPEED_CASES),
    (DEEPSPEED, DEEPSPEED_CASES),
    (VLLM, VLLM_CASES),
    (SGLANG, SGLANG_CASES),
    (TITAN, TITAN_CASES),
    (AUTOMODEL, AUTOMODEL_CASES),
    (VEOMNI, VEOMNI_CASES),
]


@pytest.mark.parametrize(("bench", "case"), [(b, c) for b, cases in ALL for c in cases], ids=label)
def test_a_constraint_and_its_legal_twin(bench: Bench, case: Case) -> None:
    bench.assert_case(case)


@pytest.mark.parametrize("bench", [bench for bench, _ in ALL], ids=label)
def test_legal_settings_are_silent(bench: Bench) -> None:
    assert bench.mesh().violations == ()


def test_what_a_recipe_leaves_to_its_file_is_not_known() -> None:
    settings = {name: value for name, value in NEMO.base.items() if name != WHOLE}
    (mesh,) = plans({**settings, f"{_CFG}.expert_model_parallel_size": 32}, NEMO.program)
    assert not mesh.complete
    assert mesh.violations == ()


def test_seven_gpus_and_a_batch_of_256() -> None:
    (mesh,) = plans({"train_batch_size": 256, "micro_train_batch_size": 4}, "openrlhf.cli.train_sft", 7)
    assert [violation.constraint.code for violation in mesh.violations] == ["BAT008"]


def test_a_launch_of_miles_without_its_flags_is_taken_for_one_of_slime() -> None:
    (mesh,) = plans({"actor-num-nodes": 1}, "train.py")
    assert mesh.backend.name == "slime"
    (mesh,) = plans({"actor-num-nodes": 1}, "/root/miles/train.py")
    assert mesh.backend.name == "miles"


def test_replicas_of_miles_have_no_common_mesh() -> None:
    assert plans({"actor-num-nodes": 3, "indep-dp": True}, "train.py") == ()


def test_an_inference_server_of_skyrl_places_no_policy() -> None:
    settings = {f"{PLACE}.colocate_all": False, f"{ENGINE}.tensor_parallel_size": 4}
    assert plans(settings, "skyrl.train.entrypoints.serve", machine={"launched": 4}) == ()
    assert plans(settings, "skyrl.train.entrypoints.main_base", machine={"launched": 4}) != ()


SHARES = "policy.generation.colocated"
APART = {
    **NEMO.base,
    "cluster.num_nodes": 5,
    f"{SHARES}.enabled": False,
    f"{SHARES}.resources.num_nodes": 1,
    ASYNC: True,
}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, []),
        ({f"{_CFG}.pipeline_model_parallel_size": 3}, ["NR-01", "MC-32"]),
        ({f"{_CFG}.expert_model_parallel_size": 64, f"{_CFG}.expert_tensor_parallel_size": 1}, ["MC-32"]),
        ({"grpo.num_prompts_per_step": 33, "grpo.num_generations_per_prompt": 1}, ["NR-04"]),
        ({f"{SHARES}.resources.num_nodes": 2, "grpo.num_prompts_per_step": 33}, []),
        (
            {"on_policy_distillation.non_colocated_teachers.enabled": True, "grpo.num_prompts_per_step": 33},
            [],
        ),
    ],
)
def test_generation_on_gpus_of_its_own_leaves_the_others(
    changes: dict[str, object], broken: list[str]
) -> None:
    found = plans({**APART, **changes}, NEMO.program)
    assert [violation.constraint.id for mesh in found for violation in mesh.violations] == broken
