"""Kinds of public failures of the batch chain, each as a small launcher, with a corrected twin that is silent."""

from __future__ import annotations

import pytest

from helpers import Write, brief, report

PATH = "examples/run_model_fsdp.sh"
PPO = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp \\\n"
    "    trainer.nnodes=1 trainer.n_gpus_per_node=8 \\\n{}\n"
)
SLIME = (
    "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --tensor-model-parallel-size 1 \\\n{}\n"
)
MLITE = PPO.replace(
    "actor_rollout_ref.actor.strategy=fsdp", "actor@actor_rollout_ref.actor=mlite_actor"
).replace("nnodes=1", "nnodes=24")
SKYRL = (
    "uv run -m skyrl.train.entrypoints.main_base trainer.placement.policy_num_gpus_per_node=8 \\\n"
    "    trainer.placement.ref_num_gpus_per_node=8 generator.inference_engine.num_engines=8 \\\n"
    "    trainer.train_batch_size=4 trainer.policy_mini_batch_size=4 \\\n    generator.n_samples_per_prompt=5\n"
)
FILES = {
    "examples/mine/grpo.yaml": (
        "rollout_batch_size: 66\nactor_train:\n  device_mapping: list(range(0,8))\n"
        "  strategy_args:\n    strategy_name: megatron_train\n    strategy_config:\n"
        "      tensor_model_parallel_size: 2\n"
    )
}
# code, launcher, what is wrong (once), what is right, part of the line of the finding
ROWS = {
    "K5-01": (
        "BAT003",
        PPO.format("    data.train_batch_size=4 \\\n    actor_rollout_ref.actor.ppo_mini_batch_size=4"),
        "_size=4",
        "_size=8",
        "data.train",
    ),
    "K5-03": (
        "BAT001",
        PPO.format(
            "    actor_rollout_ref.actor.use_dynamic_bsz=True data.train_batch_size=16 \\\n"
            "    actor_rollout_ref.actor.ppo_mini_batch_size=1 \\\n    actor_rollout_ref.rollout.n=4"
        ),
        "_size=1 ",
        "_size=2 ",
        "ppo_mini",
    ),
    "K5-07": (
        "BAT004",
        SKYRL,
        "n_samples_per_prompt=5",
        "n_samples_per_prompt=16",
        "trainer.train_batch",
    ),
    "K5-11": (
        "BAT001",
        "python examples/start_rlvr_pipeline.py --config_path mine \\\n    --config_name grpo\n",
        "rollout_batch_size: 66",
        "rollout_batch_size: 64",
        "--config_name",
    ),
    "K5-05": (
        "BAT008",
        "deepspeed --num_gpus 7 --module openrlhf.cli.train_sft \\\n    --train_batch_size 256\n",
        "256",
        "252",
        "--train_batch",
    ),
    "K5-09": (
        "BAT004",
        SLIME.format("    --rollout-batch-size 8 --n-samples-per-prompt 4 \\\n    --global-batch-size 64"),
        "-size 64",
        "-size 32",
        "--global",
    ),
    "K14-05": (
        "BAT005",
        PPO.format(
            "    actor_rollout_ref.actor.use_dynamic_bsz=True data.max_prompt_length=8192 \\\n"
            "    data.max_response_length=32768 \\\n"
            "    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384"
        ),
        "16384",
        "40960",
        "ppo_max",
    ),
    "24 nodes": (
        "BAT001",
        MLITE.format(
            "    actor_rollout_ref.actor.engine.pp=8 actor_rollout_ref.actor.engine.cp=8 \\\n"
            "    actor_rollout_ref.actor.use_dynamic_bsz=True data.train_batch_size=128 \\\n"
            "    actor_rollout_ref.rollout.n=16 \\\n    actor_rollout_ref.actor.ppo_mini_batch_size=32"
        ),
        "_size=32",
        "_size=33",
        "ppo_mini",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_broken_launcher_is_found_and_the_corrected_one_silent(write: Write, name: str) -> None:
    code, text, bad, good, at = ROWS[name]
    line = next(n for n, part in enumerate(text.split("\n"), 1) if at in part)

    broken, right = ({PATH: text, **FILES}, {PATH: text.replace(bad, good), **FILES})
    if bad not in text:
        right = {**broken, **{path: data.replace(bad, good) for path, data in FILES.items()}}
    assert broken != right
    assert [item for item in brief(report(write(broken), "batch").findings) if item.endswith(code)] == [
        f"{PATH}:{line} {code}"
    ]
    assert code not in str(brief(report(write(right), "batch").findings))
