"""What the default machine answers."""

from __future__ import annotations

import pytest

from example_sanity.launch import world
from example_sanity.launch.scenario import Answer


def respond(line: str, probes: dict[str, Answer] | None = None, unknown: str = "") -> Answer:
    return world.respond(line.split(" "), probes or {}, unknown)


def test_launch_commands_print_nothing_and_succeed() -> None:
    for line in ("python train.py", "torchrun x", "ray job submit", "my-tool", "pip install x"):
        assert respond(line) == Answer()
        assert world.recorded(line.split())


def test_who_and_when_is_answered_and_not_recorded() -> None:
    assert respond("hostname").stdout == "node0\n"
    assert respond("hostname -I").stdout == "10.0.0.1\n"
    assert respond("date +%Y-%m-%d_%H:%M:%S").stdout == "2026-01-01_00:00:00\n"
    assert respond("date +%s%N").stdout == "1767225600000000000\n"
    assert respond("date +%-m").stdout == "01\n"
    assert respond("whoami").stdout == "user\n"
    assert respond("id -u").stdout == "1000\n"
    assert respond("uname -m").stdout == "x86_64\n"
    assert respond("uname").stdout == "Linux\n"
    assert not any(world.recorded([name]) for name in ("hostname", "date", "sleep", "/bin/uname"))


def test_eight_gpus() -> None:
    assert len(respond("nvidia-smi -L").stdout.splitlines()) == 8
    assert respond("nvidia-smi --query-gpu=count --format=csv,noheader -i 0").stdout.startswith("8\n")
    assert respond("nvidia-smi --query-gpu=index,memory.total --format=csv,noheader,nounits").stdout == (
        "".join(f"{gpu}, 81559\n" for gpu in range(8))
    )
    assert respond("nvidia-smi --query-gpu=name --format=csv").stdout.startswith("name\n")
    assert respond("nvidia-smi topo -m").stdout.count("NV18") == 56
    assert respond("nvidia-smi").status == 0


@pytest.mark.parametrize("module", ["torch_npu", "torch_musa", "habana_frameworks.torch"])
def test_other_devices_are_not_there(module: str) -> None:
    assert world.respond(["python3", "-c", f"import {module}"], {}).status == 1
    assert world.respond(["python3", "-c", "import torch"], {}).status == 0
    assert respond("npu-smi info").status == 127


def test_the_longest_probe_wins() -> None:
    probes = {
        "nvidia-smi": Answer(status=9),
        "nvidia-smi -L": Answer("GPU 0\n"),
        "python3 -c import torch_npu": Answer(),
    }
    assert respond("nvidia-smi topo", probes) == Answer(status=9)
    assert respond("nvidia-smi -L", probes) == Answer("GPU 0\n")
    assert respond("nvidia-smi -Lx", probes) == Answer(status=9)
    assert respond("/usr/bin/nvidia-smi -L", probes) == Answer("GPU 0\n")
    assert respond("nvidia-smix", probes) == Answer()
    assert world.respond(["python3", "-c", "import torch_npu; print(1)"], probes) == Answer()
    assert world.respond(["python3", "-c", "import torch_npu2"], probes).status == 0


def test_names_follow_the_probes() -> None:
    assert "npu-smi" not in world.names({})
    assert "npu-smi" in world.absent({})
    answered = {"npu-smi info": Answer("x"), "nvidia-smi": Answer(status=127)}
    assert "npu-smi" in world.names(answered)
    assert "npu-smi" not in world.absent(answered)
    assert "nvidia-smi" in world.absent(answered)


def test_git_knows_where_the_project_is() -> None:
    assert respond("git rev-parse --show-toplevel").stdout == "/\n"
    assert respond("git status").stdout == ""


def test_in_the_other_world_what_nobody_knows_differs() -> None:
    for line in ("hostname", "nproc", "date", "python -c 1", "git describe"):
        assert respond(line, unknown="7\n") != respond(line)
    for line in ("whoami", "uname -m", "nvidia-smi -L", "sleep 3", "npu-smi"):
        assert respond(line, unknown="7\n") == respond(line)


@pytest.mark.parametrize(
    ("line", "path", "folder"),
    [
        ("mktemp", "/tmp/tmp.0000000003", False),
        ("mktemp -d", "/tmp/tmp.0000000003", True),
        ("mktemp a_XXXX.yaml", "a_0003.yaml", False),
        ("mktemp /x/aXXX", "/x/a003", False),
        ("mktemp -td nXXXXX", "nXXXXX", True),
        ("mktemp -t -d nXXXXX", "/tmp/n00003", True),
        ("mktemp -p /d --suffix=.sh", "/d/tmp.0000000003.sh", False),
        ("mktemp --directory --tmpdir=/d nXXX", "/d/n003", True),
    ],
)
def test_temporary_names_are_the_same_in_every_run(line: str, path: str, folder: bool) -> None:
    assert world.temporary(line.split(), 3) == (path.replace("nXXXXX", "n00003"), folder)
