"""Kinds of public launch failures, each as a small launcher that shows it, with a corrected twin that is silent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from batch import test_rows as batch_rows
from helpers import Write, brief, report

PATH = "examples/run_model_megatron.sh"


@dataclass(frozen=True)
class Row:
    """``bad`` becomes ``good`` in ``text`` and ``files``; the finding is at the line of ``at``."""

    code: str
    text: str
    bad: str
    good: str
    at: str
    files: dict[str, str] = field(default_factory=dict)


RECIPE = "distributed:\n  tp_size: 8\n  pp_size: 8\n  cp_size: 1\n  ep_size: 1\n"
HERE = json.dumps(
    {"model_type": "glm4_moe", "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8}
)
PPO = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp \\\n"
    "    trainer.nnodes=1 \\\n    trainer.n_gpus_per_node={gpus} \\\n    {more}\n"
)
SLIME = (
    "ARGS=(\n    --actor-num-nodes 1\n    --actor-num-gpus-per-node 8\n    --colocate\n{flags})\n"
    'python3 train.py "${{ARGS[@]}}"\n'
)
SKYRL = (
    "uv run -m skyrl.train.entrypoints.main_base trainer.placement.policy_num_gpus_per_node=4 \\\n"
    "    trainer.placement.ref_num_gpus_per_node=4 generator.inference_engine.num_engines=4 \\\n"
    "    trainer.critic.model.path=mine\n"
)
SBATCH = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=4\n"
NEMO = (
    "policy:\n  megatron_cfg:\n    enabled: true\n    tensor_model_parallel_size: 4\n"
    "cluster:\n  num_nodes: 4\n  gpus_per_node: 8\n"
)

ROWS = {
    "K1-01 a recipe asks for more than one node has": Row(
        "MSH001",
        "torchrun --nproc-per-node 8 train.py \\\n    --config recipe.yaml\n",
        "pp_size: 8",
        "pp_size: 1",
        "--config",
        {"recipe.yaml": RECIPE},
    ),
    "K1-03 ranks asked for as nodes": Row(
        "MSH010",
        "#!/bin/bash\n#SBATCH --nodes=32\n#SBATCH --gpus-per-node=8\n"
        "srun torchrun --nnodes=4 --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size 8\n",
        "--nodes=32",
        "--nodes=4",
        "srun",
    ),
    "K1-05 the product of degrees is not the world": Row(
        "MSH001",
        "torchrun --nproc-per-node 8 -m torchtitan.train \\\n    --job.config_file train.toml \\\n"
        "    --parallelism.context_parallel_degree 8\n",
        "degree = 8",
        "degree = 1",
        "--job.config",
        {"train.toml": "[parallelism]\ndata_parallel_shard_degree = 8\n"},
    ),
    "K2-01 fewer nodes, the same expert parallel size": Row(
        "MSH002",
        SLIME.format(
            flags="    --pipeline-model-parallel-size 2\n    --expert-tensor-parallel-size 1\n"
            "    --expert-model-parallel-size 8\n"
        ),
        "--expert-model-parallel-size 8",
        "--expert-model-parallel-size 4",
        "--expert-model",
    ),
    "K3-01 virtual stages of another model": Row(
        "MSH007",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --pipeline-model-parallel-size 2 --num-layers 40 \\\n"
        "    --num-virtual-stages-per-pipeline-rank 12\n",
        "rank 12",
        "rank 10",
        "--num-virtual",
    ),
    "K3-04 layers of a config.json against the stages": Row(
        "MSH007",
        "python3 -m verl.trainer.main_ppo model_engine=megatron \\\n"
        "    actor_rollout_ref.model.path=models/mine \\\n"
        "    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=4\n",
        "parallel_size=4",
        "parallel_size=2",
        "pipeline_model",
        {"models/mine/config.json": HERE},
    ),
    "K3-05 layers that are left out": Row(
        "MSH007",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --pipeline-model-parallel-size 4 \\\n    --num-layers 30\n",
        "30",
        "32",
        "--num-layers",
    ),
    "K4-01 tensor parallel and two KV heads": Row(
        "MSH008",
        "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=mlite_actor \\\n"
        "    actor_rollout_ref.model.path=Qwen/Qwen3.5-35B-A3B \\\n"
        "    actor_rollout_ref.actor.engine.tp=4\n",
        "engine.tp=4",
        "engine.tp=2",
        "engine.tp",
    ),
    "K4-03 Ulysses against the heads": Row(
        "MSH008",
        PPO.format(
            gpus=8,
            more="actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n"
            "    actor_rollout_ref.actor.ulysses_sequence_parallel_size=8",
        ),
        "parallel_size=8",
        "parallel_size=4",
        "ulysses",
    ),
    "K4-05 a sequence that context parallel cannot cut": Row(
        "MSH009",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --context-parallel-size 4 \\\n    --seq-length 4100\n",
        "4100",
        "4096",
        "pretrain",
    ),
    "K6-01 one GPU and the rollout's default": Row(
        "MSH006",
        PPO.format(gpus=1, more="data.train_batch_size=256"),
        "data.train_batch_size=256",
        "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
        "n_gpus_per_node",
    ),
    "K6-03 the scheduler gives half of what the recipe asks for": Row(
        "MSH010",
        f"{SBATCH}python examples/run_grpo.py --config recipe.yaml\n",
        "#SBATCH --gpus-per-node=4",
        "#SBATCH --gpus-per-node=8",
        "python",
        {"recipe.yaml": NEMO},
    ),
    "K2-04 the experts follow the tensor parallel size": Row(
        "MSH002",
        "torchrun --nnodes 2 --nproc_per_node 2 pretrain_gpt.py --tensor-model-parallel-size 2 \\\n"
        "    --pipeline-model-parallel-size 2 --expert-model-parallel-size 2 \\\n    --disable-bias-linear --num-experts 8\n",
        "--num-experts 8",
        "--num-experts 8 --expert-tensor-parallel-size 1",
        "--pipeline",
    ),
    "K6-05 a critic without the GPUs of the policy": Row(
        "MSH010",
        SKYRL,
        "trainer.critic.model.path=mine",
        "trainer.critic.model.path=mine trainer.placement.critic_num_gpus_per_node=4",
        "trainer.critic",
    ),
    "K14-01 the base of the rotary embeddings": Row(
        "MSH012",
        SLIME.format(
            flags="    --hf-checkpoint models/mine\n    --num-layers 46\n    --rotary-base 1000000\n"
        ),
        "--rotary-base 1000000",
        "--rotary-base 10000000",
        "--rotary",
        {"models/mine/config.json": HERE.replace("{", '{"rope_theta": 10000000.0, ', 1)},
    ),
    "K14-03 tied embeddings in a nested configuration": Row(
        "MSH012",
        SLIME.format(
            flags="    --hf-checkpoint models/mine\n    --num-layers 46\n    --untie-embeddings-and-output-weights\n"
        ),
        "    --untie-embeddings-and-output-weights\n",
        "",
        "--untie",
        {
            "models/mine/config.json": json.dumps(
                {"text_config": {**json.loads(HERE), "tie_word_embeddings": True}}
            )
        },
    ),
    "K6-08 fewer visible devices than GPUs asked for": Row(
        "MSH010",
        "export CUDA_VISIBLE_DEVICES=0,1,2,3\n" + PPO.format(gpus=8, more="data.train_batch_size=256"),
        "n_gpus_per_node=8",
        "n_gpus_per_node=4",
        "n_gpus_per_node",
    ),
}


# The rows of public failures in meshes, batches and model arguments, by kind and number.
KNOWN = """K1-01 K1-03 K1-05 K2-01 K2-04 K3-01 K3-04 K3-05 K4-01 K4-03 K4-05 K5-01 K5-03 K5-05 K5-07 K5-09 K5-11
    K6-01 K6-03 K6-05 K6-08 K14-01 K14-03 K14-05"""


def test_every_row_has_a_launcher() -> None:
    rows = {name.partition(" ")[0] for name in (*ROWS, *batch_rows.ROWS)}

    assert set(KNOWN.split()) - rows == set()


def _codes(write: Write, row: Row, *, fixed: bool) -> list[str]:
    files = {PATH: row.text, **row.files}
    if fixed:
        assert any(row.bad in text for text in files.values())
        files = {name: text.replace(row.bad, row.good) for name, text in files.items()}
    return brief(report(write(files), "mesh").findings)


@pytest.mark.parametrize("row", ROWS.values(), ids=[name.partition(" ")[0] for name in ROWS])
def test_a_corrected_launcher_is_silent(write: Write, row: Row) -> None:
    assert _codes(write, row, fixed=True) == []


@pytest.mark.parametrize("row", ROWS.values(), ids=[name.partition(" ")[0] for name in ROWS])
def test_a_broken_launcher_is_found_at_its_line(write: Write, row: Row) -> None:
    line = next(n for n, text in enumerate(row.text.split("\n"), 1) if row.at in text)

    assert _codes(write, row, fixed=False) == [f"{PATH}:{line} {row.code}"]
