"""Which commands start a program, and how they are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from example_sanity.launch.entry import entries
from launch_commands import command, entry


@pytest.mark.parametrize(
    "line",
    [
        "echo python train.py",
        "python",
        "python -",
        "python - train.py",
        "python --version",
        "python -V",
        "python -c 'import train' train.py",
        "python -Ic 'import train'",
        "python -m pip install torch",
        "python -um pip install torch",
        "python -m venv x",
        "python -m pytest tests",
        "python -m http.server 80",
        "python setup.py install",
        "pip install train.py",
        "pytest train.py",
        "bash run.sh",
        "bash -x run.sh",
        "bash -c 'echo hello'",
        "sh -c",
        "ray start --head",
        "ray stop",
        "ray status",
        "ray job list",
        "ray job submit --address x",
        "accelerate config",
        "uv pip install torch",
        "uv sync",
        "uv run pytest",
        "nsys stats out",
        "env",
        "env A=1",
        "timeout 10",
        "srun hostname",
        "srun",
        "torchrun --nnodes 2",
        "torchrun -m",
        "python -m",
        "conda install x",
        "env env env env env env env env env env env env env env env env env env env env env env python t.py",
    ],
)
def test_no_entries(line: str) -> None:
    assert entries([command(line)]) == ()


@pytest.mark.parametrize(
    ("line", "kind", "program", "arguments"),
    [
        ("python train.py --x 1", "python", "train.py", ["--x", "1"]),
        ("python3.11 -u -W ignore -X dev -OO train.py -u", "python", "train.py", ["-u"]),
        ("/opt/venv/bin/python3 -Wignore train.py", "python", "train.py", []),
        ("python --check-hash-based-pycs always train.py", "python", "train.py", []),
        ("python -m verl.trainer.main_ppo a.b=1", "python", "verl.trainer.main_ppo", ["a.b=1"]),
        ("python -mverl.main a=1", "python", "verl.main", ["a=1"]),
        ("python -um verl.main a=1", "python", "verl.main", ["a=1"]),
        ("python -m verl.main train.py", "python", "verl.main", ["train.py"]),
        ("python -m verl.main data.json", "python", "verl.main", ["data.json"]),
        ("torchrun --nnodes 2 train.py --nnodes 3", "torchrun", "train.py", ["--nnodes", "3"]),
        ("torchrun --nnodes=2 --standalone train.py", "torchrun", "train.py", []),
        ("torchrun -m --nnodes 2 a.b x", "torchrun", "a.b", ["x"]),
        ("torchrun -t 3 -r 1:2 train.py x", "torchrun", "train.py", ["x"]),
        ("torchrun --nproc 8 train", "torchrun", "train", []),
        ("torchrun --no-python run.sh x", "torchrun", "run.sh", ["x"]),
        ("torchrun -m pytest tests", "torchrun", "pytest", ["tests"]),
        ("python -m torch.distributed.run --nnodes 2 train.py x", "torchrun", "train.py", ["x"]),
        ("python -u -m torch.distributed.launch --use_env train.py x", "torchrun", "train.py", ["x"]),
        ("accelerate launch --num_processes 8 --multi_gpu train.py x", "accelerate", "train.py", ["x"]),
        ("accelerate launch -m a.b x", "accelerate", "a.b", ["x"]),
        ("python -m accelerate.commands.launch --use_fsdp train.py", "accelerate", "train.py", []),
        ("python -m accelerate launch --use_fsdp train.py", "accelerate", "train.py", []),
        ("deepspeed --num_gpus 8 -H hosts train.py --deepspeed", "deepspeed", "train.py", ["--deepspeed"]),
        ("deepspeed --module a.b x", "deepspeed", "a.b", ["x"]),
        ("ray job submit --address http://x -- python train.py x", "ray", "train.py", ["x"]),
        ("ray job submit --no-wait --runtime-env-json '{}' python -m a.b", "ray", "a.b", []),
        ("ray job submit -- 'python train.py x'", "ray", "train.py", ["x"]),
        ("srun -N 2 -n8 -l --mpi=pmix python train.py x", "srun", "train.py", ["x"]),
        ("srun --nodes 2 --exclusive --container-image x python train.py", "srun", "train.py", []),
        ("srun ./run.sh x", "srun", "./run.sh", ["x"]),
        ("srun bash -l run.sh x", "srun", "run.sh", ["x"]),
        ("sbatch -N2 --time 1:00 job.slurm x", "sbatch", "job.slurm", ["x"]),
        (
            "mpirun -np 8 -x A=1 --mca btl tcp --allow-run-as-root python train.py x",
            "mpirun",
            "train.py",
            ["x"],
        ),
        ("uv run --frozen --extra vllm python3 -m a.b x", "uv", "a.b", ["x"]),
        ("uv run train.py x", "uv", "train.py", ["x"]),
        ("uv run -m a.b x", "uv", "a.b", ["x"]),
        ("env -u X A=1 B=2 python train.py", "python", "train.py", []),
        ("nohup exec -a name time -p python train.py", "python", "train.py", []),
        ("timeout -k 5 --signal TERM 10 nice -n 5 python train.py", "python", "train.py", []),
        ("numactl --cpunodebind=0 -m 0 stdbuf -oL setsid -w python train.py", "python", "train.py", []),
        ("taskset -c 0-3 ionice -c2 -n 0 python train.py", "python", "train.py", []),
        ("sudo -E -u me python train.py", "python", "train.py", []),
        ("xargs -n 1 -P4 -I {} python train.py {}", "python", "train.py", ["{}"]),
        ("nsys profile -t cuda,nvtx -f true --output=x torchrun train.py", "torchrun", "train.py", []),
        ("conda run -n env --no-capture-output python train.py", "python", "train.py", []),
        ("poetry run python train.py", "python", "train.py", []),
        ("bash -c 'python train.py x'", "python", "train.py", ["x"]),
        ("bash -lc 'cd /x && exec python train.py'", "python", "train.py", []),
        ("srun torchrun --nnodes 2 train.py x", "srun", "train.py", ["x"]),
    ],
)
def test_entries(line: str, kind: str, program: str, arguments: list[str]) -> None:
    found = entry(line)
    assert (found.kind, found.module or found.file) == (kind, program)
    assert (found.module is None) != (found.file is None)
    assert [found.command.argv[index] for index in found.arguments] == arguments


@pytest.mark.parametrize(
    ("line", "program", "wrapper"),
    [
        (
            "python -m verl_mlite.launch verl.trainer.sft_trainer a=1",
            "verl.trainer.sft_trainer",
            "verl_mlite.launch",
        ),
        (
            "torchrun -m verl_mlite.launch verl.trainer.sft_trainer a=1",
            "verl.trainer.sft_trainer",
            "verl_mlite.launch",
        ),
        ("python -m coverage run -p --source=x -m a.b a=1", "a.b", "coverage"),
        ("python -m debugpy --listen 5678 --wait-for-client train.py a=1", "train.py", "debugpy"),
        ("python -m cProfile -o out train.py a=1", "train.py", "cProfile"),
        ("python -m a.b a=1", "a.b", None),
        ("python -m a.b c", "a.b", None),
    ],
)
def test_a_module_that_runs_another(line: str, program: str, wrapper: str | None) -> None:
    found = entry(line)
    assert (found.module or found.file, found.wrapper) == (program, wrapper)


def test_only_one_wrapper_is_peeled_off() -> None:
    found = entry("python -m a.b c.d e.f")
    assert (found.module, found.wrapper, found.arguments) == ("c.d", "a.b", (4,))


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("torchrun --nnodes=2 --nproc-per-node 8 train.py", {"nnodes": "2", "nproc_per_node": "8"}),
        ("torchrun --nproc 8 --standalone train.py", {"nproc_per_node": "8", "standalone": ""}),
        ("torchrun --rdzv_endpoint=a:1 train.py", {"rdzv_endpoint": "a:1"}),
        ("srun -N 2 -n8 --gpus-per-node=8 python t.py", {"nodes": "2", "ntasks": "8", "gpus_per_node": "8"}),
        ("srun -N2 torchrun --nnodes 4 t.py", {"nodes": "2", "nnodes": "4"}),
        ("mpirun -np 8 --mca a b python t.py", {"np": "8", "mca": "a b"}),
        ("ray job submit --runtime-env-json='{\"a\": 1}' -- python t.py", {"runtime_env_json": '{"a": 1}'}),
        ("accelerate launch --num_processes 8 --multi_gpu t.py", {"num_processes": "8", "multi_gpu": ""}),
        ("python t.py --nnodes 2", {}),
    ],
)
def test_options(line: str, options: dict[str, str]) -> None:
    assert entry(line).options == options


def test_launchers_from_the_outside_in() -> None:
    found = entry("srun -N 2 nohup uv run python -m torch.distributed.run --nnodes 2 t.py")
    assert [launcher.kind for launcher in found.launchers] == ["srun", "uv", "torchrun"]
    assert found.launchers[0].options == {"nodes": "2"}


def test_the_commands_of_shell_text() -> None:
    outer = command("srun bash -c 'cd /x; python a.py \"$X\" 1 && torchrun --nnodes 2 b.py'")
    first, second = entries([outer])
    assert (first.command.argv, first.arguments) == (("python", "a.py", '"$X"', "1"), (2, 3))
    assert (first.kind, second.kind, second.file) == ("srun", "srun", "b.py")
    assert [launcher.kind for launcher in second.launchers] == ["srun", "torchrun"]
    assert set(first.command.origins) == {outer.origins[3]}
    assert first.command.unstable == {2}


def test_shell_text_from_a_placeholder_is_unstable() -> None:
    (found,) = entries([command("bash -c 'python a.py 1'", unstable=(2,))])
    assert found.command.unstable == {0, 1, 2}


def test_order_is_that_of_the_commands() -> None:
    found = entries([command("python b.py"), command("ls"), command("python a.py")])
    assert [item.file for item in found] == ["b.py", "a.py"]


PLAIN = "python torchrun srun env bash -c -m -u -- -N 2 a.b t.py x=1 timeout 10 ray job submit uv run mpirun --x $A"
WORDS = st.sampled_from([*PLAIN.split(), "python t.py", "'", ""])


@given(st.lists(WORDS, max_size=8))
def test_any_command_line_is_read(words: list[str]) -> None:
    bare = command("x")
    for found in entries([replace(bare, argv=tuple(words), origins=())]):
        assert (found.module is None) != (found.file is None)
        assert all(index < len(found.command.argv) for index in found.arguments)
