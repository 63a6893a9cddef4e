"""What a launcher shows of its machine: the ranks that it starts, the GPUs that it has, and what nobody can know."""

from __future__ import annotations

import pytest

from example_sanity.checks.mesh.machine import Machine, batch_header, machine
from example_sanity.launch.explore import launches
from example_sanity.launch.syntax import parse

HEADER = "#!/bin/bash\n#SBATCH --nodes=4 --gpus-per-node=h100:8\n#SBATCH --ntasks-per-node 8\n"


def shown(text: str, given: dict[str, object] | None = None, files: dict[str, str] | None = None) -> Machine:
    launch = launches(parse("run.sh", text.encode()), None)[0]
    return machine(launch, launch.entries[-1], given or {}, (files or {}).get)


@pytest.mark.parametrize(
    ("line", "world", "facts"),
    [
        ("torchrun --nnodes=2 --nproc_per_node 4 train.py", 8, {"gpn": 4}),
        ("torchrun --nproc-per-node=8 train.py", 8, {"gpn": 8}),
        ("python -m torch.distributed.run --nnodes 2 --nproc-per-node 8 train.py", 16, {"gpn": 8}),
        ("accelerate launch --num_processes 16 --num_machines 2 train.py", 16, {"gpn": 8}),
        ("accelerate launch --num_processes 16 train.py", 16, {}),
        ("deepspeed --num_gpus 8 --num_nodes 2 train.py", 16, {"gpn": 8}),
        ("deepspeed --num_gpus=7 train.py", 7, {"gpn": 7}),
        ("deepspeed --include a:0,1@b:0,1 train.py", 4, {}),
        ("mpirun -np 16 python train.py", 16, {}),
        ("mpirun -n 4 python train.py", 4, {}),
        ("srun -N 4 --ntasks-per-node=8 python train.py", 32, {"gpn": 8}),
        ("srun -n8 python train.py", 8, {}),
        ("srun -N2 --gpus-per-node=8 torchrun --nnodes=2 --nproc_per_node=8 train.py", 16, {"gpn": 8}),
    ],
)
def test_each_launcher_starts_its_ranks(line: str, world: int, facts: dict[str, int]) -> None:
    found = shown(f"{line}\n")

    assert found.world == world
    assert {"gpn": found.facts["gpn"]} == facts if facts else "gpn" not in found.facts


@pytest.mark.parametrize(
    "line",
    [
        "python train.py",
        "torchrun --nproc_per_node=gpu train.py",
        "torchrun --nnodes=1:4 --nproc_per_node=8 train.py",
        "torchrun --nnodes=1 --nproc_per_node=$1 train.py",
        "torchrun --nnodes=${SLURM_NNODES:-1} --nproc_per_node=8 train.py",
        "NNODES=${WORLD_SIZE:-1}\nNODES=$NNODES\ntorchrun --nnodes $NODES --nproc_per_node=8 train.py",
        "accelerate launch train.py",
        "deepspeed train.py",
        "deepspeed --hostfile hosts --num_gpus 8 train.py",
        "deepspeed --include a@b train.py",
        "srun -N4 python train.py",
        "mpirun python train.py",
    ],
)
def test_a_number_of_ranks_that_the_launcher_does_not_show_is_not_known(line: str) -> None:
    assert shown(f"{line}\n").world is None


def test_a_value_that_the_user_sets_in_the_place_of_the_scheduler_is_known() -> None:
    script = parse("run.sh", b"torchrun --nnodes=${SLURM_NNODES:-1} --nproc_per_node=8 train.py\n")
    launch = launches(script, None, {"SLURM_NNODES": "4"})[0]

    assert machine(launch, launch.entries[0], {}).world == 32


def test_the_header_of_a_batch_script_ends_at_the_first_command() -> None:
    text = HEADER + "# a comment\n\nset -e\n#SBATCH --nodes=9\n"

    assert batch_header(text) == {"nodes": "4", "gpus_per_node": "h100:8", "ntasks_per_node": "8"}


def test_srun_takes_what_the_header_says() -> None:
    found = shown(HEADER + "srun python train.py\n")

    assert (found.world, found.facts) == (32, {"gpn": 8, "launched": 32})
    assert shown(HEADER + "srun -N2 python train.py\n").world == 16


def test_what_slurm_reserves_is_compared_with_what_torchrun_starts() -> None:
    run = "srun --ntasks-per-node=1 torchrun --nnodes=4 --nproc_per_node=8 train.py\n"

    assert shown(HEADER + run).facts == {"gpn": 8, "launched": 32, "reserved": 32}
    assert shown(HEADER.replace("--gpus-per-node=h100:8", "--gres=gpu:h100:4") + run).facts["launched"] == 16


@pytest.mark.parametrize(
    ("line", "launched"),
    [
        ("CUDA_VISIBLE_DEVICES=0,1,2 python train.py", 3),
        ("export CUDA_VISIBLE_DEVICES=4\npython train.py", 1),
        ("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 4 train.py", 2),
        ("CUDA_VISIBLE_DEVICES=GPU-8f1 python train.py", None),
        ("CUDA_VISIBLE_DEVICES=$1 python train.py", None),
        ("CUDA_VISIBLE_DEVICES=0,1 torchrun --nnodes 2 --nproc_per_node 4 train.py", None),
        ("CUDA_VISIBLE_DEVICES=0,1 ray job submit -- python train.py", None),
        ("python train.py", None),
    ],
)
def test_the_visible_devices_of_a_single_node(line: str, launched: int | None) -> None:
    assert shown(f"set -u\n{line}\n").facts.get("launched") == launched


def test_visible_devices_say_nothing_about_other_nodes() -> None:
    line = "CUDA_VISIBLE_DEVICES=0,1 python train.py\n"

    assert "launched" not in shown(line, {"trainer.nnodes": 2}).facts
    assert "launched" not in shown(line, {"trainer.nnodes": "<unknown>"}).facts


def test_a_hostfile_in_the_repository_has_the_slots() -> None:
    hosts = {"hosts": "# workers\nnode1 slots=8\nnode2 slots=8\n"}

    found = shown("deepspeed --hostfile hosts train.py\n", files=hosts)
    assert (found.world, found.facts) == (16, {"gpn": 8})
    assert shown("deepspeed --hostfile hosts --num_nodes 1 train.py\n", files=hosts).world == 8
    assert shown("deepspeed --hostfile hosts --num_gpus 4 train.py\n", files=hosts).world == 8
