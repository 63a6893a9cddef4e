"""Launches whose sizes stand in a file: ROLL, and files of trainers that nobody knows."""

from __future__ import annotations

import pytest

from backend_cases import Bench, Case, label
from example_sanity.parallel.backends import plans, roll, sized
from example_sanity.parallel.keys import WHOLE

TRAIN = "actor_train.strategy_args.strategy_config"
ROLL = Bench(
    roll.BACKENDS[0],
    {
        WHOLE: True,
        "actor_train.strategy_args.strategy_name": "megatron_train",
        "actor_train.device_mapping": "list(range(0,16))",
        f"{TRAIN}.tensor_model_parallel_size": 2,
        f"{TRAIN}.pipeline_model_parallel_size": 2,
        "rollout_batch_size": 64,
        "pretrain": "odd",
    },
    "examples/start_rlvr_pipeline.py",
)
EP = f"{TRAIN}.expert_model_parallel_size"
ROLL_CASES = [
    Case(
        "RO-01",
        {"actor_train.device_mapping": "list(range(0,14))"},
        "14 GPUs do not divide into tp2·cp1·pp2 = 4 (2 left over); with PP=7 it fits, dp=1",
    ),
    Case(
        "RO-02",
        {"rollout_batch_size": 66},
        "rollout batch 66 does not divide among dp4 (2 left over); older releases hang; with rollout_batch_size=64 it fits",
    ),
]
SIZED = Bench(
    sized.BACKENDS[0],
    {WHOLE: True, "model.tp_size": 4, "model.pp_size": 2, "model.dp_size": 2, "cluster.num_nodes": 2},
    "train.py",
    16,
    {"gpn": 8},
)
SIZED_CASES = [
    Case(
        "SF-01",
        {"model.pp_size": 3},
        "16 GPUs do not divide into tp4·cp1·pp3 = 12 (4 left over); with PP=2 it fits, dp=2",
    ),
    Case(
        "SF-02",
        {"model.dp_size": 4},
        "the launcher starts 16 ranks, but the file describes tp4·cp1·pp2·dp4 = 32; with dp_size=2 it fits",
    ),
    Case(
        "SF-03",
        {"cluster.num_nodes": 4},
        "the launcher starts 16 ranks, but the file describes 4 nodes of 8 GPUs = 32; with num_nodes=2 it fits",
    ),
]
ALL = [(ROLL, ROLL_CASES), (SIZED, SIZED_CASES)]


@pytest.mark.parametrize(("bench", "case"), [(b, c) for b, cases in ALL for c in cases], ids=label)
def test_a_constraint_and_its_legal_twin(bench: Bench, case: Case) -> None:
    bench.assert_case(case)


@pytest.mark.parametrize("bench", [bench for bench, _ in ALL], ids=label)
def test_legal_settings_are_silent(bench: Bench) -> None:
    assert bench.mesh().violations == ()


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("list(range(0,8))", 8),
        ("list(range(8, 12))", 4),
        ("list(range(16))", 16),
        ("list([0,1,2,8])", 4),
        ("[1]", 1),
        ([0, 1], 2),
        ("list(range(0,8)) + list(range(16,24))", None),
        ("${gpus}", None),
        (None, None),
    ],
)
def test_how_many_gpus_a_device_mapping_names(value: object, count: int | None) -> None:
    assert roll.devices(value) == count


def test_a_file_of_a_known_trainer_is_read_as_that_trainer_reads_it() -> None:
    settings = {WHOLE: True, "distributed.tp_size": 2, "distributed.pp_size": 2, "distributed.cp_size": 1}
    assert [mesh.backend.name for mesh in plans(settings, "train.py", 8)] == ["automodel_native"]


def test_each_section_has_a_mesh_of_its_own() -> None:
    settings = {WHOLE: True, "a.tp_size": 2, "a.pp_size": 2, "b.tensor_parallel_size": 3, "b.cp_size": 1}
    found = plans(settings, "train.py", 8)
    assert [(mesh.backend.title, mesh.legal) for mesh in found] == [
        ("the sizes of a", True),
        ("the sizes of b", False),
    ]


def test_without_the_file_nothing_is_known() -> None:
    assert plans({"model.tp_size": 3, "model.pp_size": 1}, "train.py", 8) == ()
