"""What the tests of smoke plans share: one call, and small launchers of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from example_sanity.session import open_run
from example_sanity.smoke.plan import SmokePlan
from example_sanity.smoke.planning import Wish, plan

ROOT = Path(__file__).parents[2]
HOME = Path("/smoke")

PPO = """\
#!/usr/bin/env bash
set -eu
MODEL_PATH=${MODEL_PATH:-Qwen/Qwen3-8B}
SP=${SP:-4}
BATCH=${BATCH:-1024}
python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    data.train_files="$HOME/train.parquet" \\
    data.val_files="$HOME/test.parquet" \\
    data.train_batch_size=$BATCH \\
    actor_rollout_ref.model.path="$MODEL_PATH" \\
    actor_rollout_ref.actor.strategy=fsdp \\
    actor_rollout_ref.actor.ulysses_sequence_parallel_size=$SP \\
    actor_rollout_ref.actor.ppo_mini_batch_size=256 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 \\
    actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.rollout.n=5 \\
    trainer.logger='["console","wandb"]' \\
    trainer.n_gpus_per_node=8 trainer.nnodes=1 trainer.save_freq=20 "$@"
"""


def planned(
    script: Path | str,
    gpus: int = 1,
    settings: Mapping[str, str] | None = None,
    *,
    steps: int | None = None,
    family: str | None = None,
    host: Mapping[str, str] | None = None,
) -> SmokePlan:
    """Plan a launcher of ours (a path below the root), or any other, without a word from this process's environment."""
    path = ROOT / script
    run = open_run([path], cache=False)
    return plan(run, path, Wish(gpus, HOME, steps, family, settings or {}, host or {}))


def told(found: SmokePlan) -> dict[str, str]:
    """Return the changes of a plan by name."""
    return {change.name: change.value for change in found.changes}
