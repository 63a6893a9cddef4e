"""How long things take, outside the default run: ``pytest tests/bench/bench_speed.py``.

Compare with an earlier run (``--benchmark-autosave``, ``--benchmark-compare``), never with a number: machines differ.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from example_sanity import session
from example_sanity.checks.mesh.bridge import launch_meshes
from example_sanity.checks.mesh.guard import GuardCase, guard_case
from example_sanity.launch.command import Launch
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.explore import default_launch
from example_sanity.launch.scenario import scenarios
from example_sanity.launch.syntax import Script, parse
from example_sanity.parallel.suggest import suggest

REPOSITORY = Path(__file__).parents[2]
LAUNCHER = "examples/grpo_trainer/run_kimi_k2_6_glm5_1_megatron_lite.sh"


@pytest.fixture(scope="module")
def script() -> Script:
    return parse(LAUNCHER, (REPOSITORY / LAUNCHER).read_bytes())


@pytest.fixture(scope="module")
def launch(script: Script) -> Launch:
    return default_launch(script, REPOSITORY)


@pytest.fixture(scope="module")
def case(launch: Launch) -> GuardCase:
    found = guard_case(launch_meshes(launch)[0])
    assert found
    return found


def test_parse(benchmark: BenchmarkFixture, script: Script) -> None:
    benchmark(parse, script.path, script.data)


def test_one_scenario(benchmark: BenchmarkFixture, script: Script) -> None:
    benchmark(evaluate, script, scenarios(script)[0], REPOSITORY)


def test_guard_prover(benchmark: BenchmarkFixture, case: GuardCase) -> None:
    benchmark.pedantic(case.prove, (REPOSITORY,), rounds=5)


def test_suggest(benchmark: BenchmarkFixture, launch: Launch) -> None:
    mesh = launch_meshes(launch)[0].mesh
    benchmark(suggest, mesh.backend, {**mesh.given, "cp": 3})


@pytest.mark.parametrize("arguments", [["--help"], ["naming", "examples"], ["check"]], ids=" ".join)
@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_command(benchmark: BenchmarkFixture, arguments: list[str], cache: str) -> None:
    without = ["--no-cache"] if cache == "cold" and arguments != ["--help"] else []
    command = [sys.executable, "-m", "example_sanity", *arguments, *without]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}

    def run() -> None:
        subprocess.run(command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL, check=True)

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)


def test_one_changed_launcher(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(REPOSITORY / "examples", root / "examples")
    command = [sys.executable, "-m", "example_sanity", "check", "--preset", "verl"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}

    def change() -> None:
        with (root / LAUNCHER).open("a") as stream:
            stream.write("# changed\n")

    def run() -> None:
        subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=False)

    benchmark.pedantic(run, setup=change, rounds=5, warmup_rounds=1)


def test_a_run_in_this_process(benchmark: BenchmarkFixture) -> None:
    def run() -> None:
        opened = session.open_run([REPOSITORY], cache=False)
        opened.check([opened.registry.family("knobs")], [REPOSITORY / "examples"])

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
