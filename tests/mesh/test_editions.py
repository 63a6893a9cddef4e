"""Which constraints are said of a framework that the repository carries in another release, or wraps in a trainer of its own."""

from __future__ import annotations

import pytest

from helpers import Write, report
from mesh.launchers import PATH

PROGRAM = "verl.trainer.main_ppo"
CHUNKS = (
    "actor_rollout_ref.actor.strategy=fsdp trainer.nnodes=1 trainer.n_gpus_per_node=8 "
    "data.train_batch_size=64 data.gen_batch_size=128 actor_rollout_ref.actor.ppo_mini_batch_size=64 "
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=3"
)
TRAINER = {"verl/__init__.py": "", "verl/trainer/ppo/v1/trainer_base.py": ""}
ENGINES = {"verl/__init__.py": "", "verl/workers/engine/utils.py": ""}
OLDER = {"verl/workers/fsdp_workers.py": ""}


def broken(write: Write, files: dict[str, str], more: str = "", program: str = PROGRAM) -> list[str]:
    line = f"python3 -m {program} {CHUNKS} {more}\n"
    return sorted(item.code for item in report(write({**files, PATH: line}), "batch").findings)


def test_without_the_framework_its_newest_release_counts(write: Write) -> None:
    assert broken(write, {}) == ["BAT002", "BAT003"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"verl/__init__.py": ""}, []),
        (TRAINER, ["BAT003"]),
        (ENGINES, ["BAT002"]),
        ({f"deep/{path}": text for path, text in ENGINES.items()}, ["BAT002"]),
        ({**TRAINER, **ENGINES}, ["BAT002", "BAT003"]),
        ({**TRAINER, **ENGINES, **OLDER}, ["BAT003"]),
    ],
    ids=["neither", "trainer", "engines", "deep", "both", "older workers"],
)
def test_a_release_checks_what_it_has_the_file_for(
    write: Write, files: dict[str, str], expected: list[str]
) -> None:
    assert broken(write, files) == expected


def test_the_newer_workers_beside_the_older_ones_are_asked_for(write: Write) -> None:
    assert broken(write, {**ENGINES, **OLDER}, "trainer.use_legacy_worker_impl=disable") == ["BAT002"]


@pytest.mark.parametrize("program", ["recipe.ours.main", "verl.experimental.robots.main_ppo"])
def test_another_trainer_cuts_batches_in_its_own_way(write: Write, program: str) -> None:
    assert broken(write, {}, program=program) == []


def test_a_mesh_is_a_mesh_in_every_release(write: Write) -> None:
    line = "python3 -m recipe.ours.main actor_rollout_ref.actor.strategy=fsdp trainer.nnodes=1 "
    text = (
        line
        + "trainer.n_gpus_per_node=8 actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size=3\n"
    )
    (found,) = report(write({"verl/__init__.py": "", PATH: text}), "mesh").findings
    assert found.code == "MSH001"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["MSH009"]),
        ({"megatron/__init__.py": "", "megatron/training/arguments.py": ""}, ["MSH009"]),
        ({"megatron/__init__.py": "", "megatron/arguments.py": ""}, []),
    ],
    ids=["elsewhere", "release", "fork"],
)
def test_a_fork_of_megatron_checks_arguments_in_its_own_way(
    write: Write, files: dict[str, str], expected: list[str]
) -> None:
    line = "torchrun --nproc_per_node=8 pretrain_gpt.py --context-parallel-size 8 --seq-length 1000\n"
    root = write({**files, "pretrain_gpt.py": "", PATH: line})
    assert [item.code for item in report(root, "mesh").findings] == expected
