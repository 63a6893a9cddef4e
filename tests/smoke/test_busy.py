"""What the processes of a run do, by real processes: copies of small programs under the names of compilers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from example_sanity.smoke import busy
from example_sanity.smoke.busy import Busy, BusyWatch, Load, program
from example_sanity.smoke.record import Record
from example_sanity.smoke.report import render
from example_sanity.smoke.result import SmokeResult
from example_sanity.smoke.verdict import Ending, judge
from smoke.runs import FAILED, launch, plan

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")

SLEEPER = shutil.which("sleep") or ""
# A process that sleeps, one that computes, and none that outlives the test.
SPIN = "import os\nwhile os.getppid() != 1:\n    pass\n"


@pytest.fixture
def named(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that makes a program of a name, which sleeps as long as its argument says."""

    def make(name: str) -> str:
        shutil.copy2(SLEEPER, tmp_path / name)
        return str(tmp_path / name)

    return make


@pytest.fixture
def started() -> Iterator[Callable[..., int]]:
    """Return a function that starts a program and returns its number; all end with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> int:
        running.append(subprocess.Popen(words, start_new_session=True))
        return running[-1].pid

    yield start
    for process in running:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def seen(pid: int, wanted: Callable[[Busy], bool]) -> Busy:
    """Look below a process until what is seen is what is wanted, or for ten seconds."""
    until = time.monotonic() + 10
    while True:
        watch = BusyWatch(pid, 1.0)
        watch.look(1.0)
        time.sleep(0.3)
        found = watch.found
        assert found is not None
        if wanted(found) or time.monotonic() > until:
            return found


def test_nothing_is_known_of_a_run_that_is_elsewhere() -> None:
    watch = BusyWatch(None, 1.0)
    watch.look(1.0)

    assert watch.found is None


def test_processes_that_sleep_are_counted_and_not_named(started: Callable[..., int]) -> None:
    shell = started("bash", "-c", "sleep 60 & sleep 60 & wait")
    found = seen(shell, lambda busy: busy.count == 2)

    assert found == Busy(count=2)
    assert found.words == "none of its 2 processes used a processor"


def test_the_busiest_program_is_named(started: Callable[..., int]) -> None:
    shell = started("bash", "-c", f"{sys.executable} -c '{SPIN}' secret=1 & sleep 60 & wait")
    found = seen(shell, lambda busy: bool(busy.processes))

    assert [load.name for load in found.processes] == [f"{Path(sys.executable).name} -c"]
    assert 0.05 <= found.processes[0].cores <= 1.3
    assert "secret" not in found.words


def test_compilers_are_counted_with_who_started_them(
    named: Callable[[str], str], started: Callable[..., int], tmp_path: Path
) -> None:
    cicc = named("cicc")
    trainer = f"import subprocess\n[subprocess.Popen(['sh', '-c', '{cicc} 60; true']) for _ in range(3)][0].wait()\n"
    (tmp_path / "engine.py").write_text(trainer)
    shell = started("bash", "-c", f"{sys.executable} {tmp_path}/engine.py & wait")
    found = seen(shell, lambda busy: busy.compilers == {"cicc": 3})

    assert (found.compilers, found.builds) == ({"cicc": 3}, "")
    assert found.started_by == f"{Path(sys.executable).name} engine.py"
    assert found.at_work == f"3 cicc, started by {found.started_by}"


def test_a_build_of_the_launcher_itself(
    named: Callable[[str], str], started: Callable[..., int], tmp_path: Path
) -> None:
    folder = tmp_path / "flashinfer"
    folder.mkdir()
    shutil.copy2(named("ninja"), folder / "ninja")
    shell = started("bash", "-c", f"{folder}/ninja 60 & wait")
    found = seen(shell, lambda busy: bool(busy.compilers))

    assert (found.compilers, found.started_by, found.builds) == ({"ninja": 1}, "the launcher", "flashinfer")


@pytest.mark.parametrize(("ticks", "compilers"), [(0, {}), (5, {"compile workers of torch": 1})])
def test_workers_that_compile_count_while_they_work(
    monkeypatch: pytest.MonkeyPatch, ticks: int, compilers: dict[str, int]
) -> None:
    samples = iter([{2: busy._Process(2, 1, "python3", used)} for used in (7, 7 + ticks)])
    monkeypatch.setattr(busy, "_below", lambda _: next(samples))
    monkeypatch.setattr(
        busy,
        "_described",
        lambda _: (program(["python3", "/torch/_inductor/compile_worker/__main__.py"]), ""),
    )
    watch = BusyWatch(1, 1.0)
    watch.look(1.0)
    found = watch.found

    assert found is not None
    assert found.compilers == compilers


def test_a_compiler_that_is_seen_once_is_that_of_a_small_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, ptxas = busy._Process(2, 1, "python3", 0), busy._Process(3, 2, "ptxas", 0)
    samples = iter([{2: trainer}, {2: trainer, 3: ptxas}, {2: trainer}])
    monkeypatch.setattr(busy, "_below", lambda _: next(samples))
    monkeypatch.setattr(busy, "_EVERY", 0.0)
    watch = BusyWatch(1, 1.0)
    watch.look(1.0)
    watch.look(1.0)
    found = watch.found

    assert found is not None
    assert found.compilers == {}


def test_a_process_that_starts_another_program_in_its_place_is_named_by_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = iter(
        [
            {2: busy._Process(2, 1, name, ticks)}
            for name, ticks in (("sh", 0), ("python3", 0), ("python3", 900))
        ]
    )
    names = iter([("sh", ""), ("python3 train.py", "")])
    monkeypatch.setattr(busy, "_below", lambda _: next(samples))
    monkeypatch.setattr(busy, "_described", lambda _: next(names))
    monkeypatch.setattr(busy, "_EVERY", 0.0)
    watch = BusyWatch(1, 1.0)
    watch.look(1.0)
    watch.look(1.0)
    assert watch._told == {(2, "sh"): ("sh", ""), (2, "python3"): ("python3 train.py", "")}


def test_before_the_limit_is_near_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise AssertionError

    monkeypatch.setattr(busy, "_below", fail)
    BusyWatch(1, 100.0).look(89.0)


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (
            ["/usr/bin/python3", "-u", "-m", "verl.trainer.main_ppo", "a=b"],
            "python3 -m verl.trainer.main_ppo",
        ),
        (["python3.12", "/src/train.py", "--token=x"], "python3.12 train.py"),
        (["python3", "-c", "import x"], "python3 -c"),
        (["python", "/env/torch/_inductor/compile_worker/__main__.py"], "compile workers of torch"),
        (["python3"], "python3"),
        (["VLLM::EngineCore"], "VLLM::EngineCore"),
        (["ray::WorkerDict.actor_init (x)"], "ray::WorkerDict.actor_init"),
        (["/usr/local/cuda/bin/nvcc", "-c"], "nvcc"),
        ([""], ""),
    ],
)
def test_names_of_programs(argv: list[str], name: str) -> None:
    assert program(argv) == name


def judged(found: Busy, seconds: float = 300.0) -> tuple[str, str, str]:
    record = Record()
    record.feed("loading", 1.0)
    _, cause, _ = judge(plan(), record, Ending(143, seconds, is_timed_out=True, busy=found))
    assert cause is not None
    return cause.kind, cause.message, cause.advice


def test_a_limit_that_comes_while_kernels_are_built_is_no_hang() -> None:
    found = Busy(
        compilers={"cicc": 16, "nvcc": 16, "ninja": 1}, started_by="VLLM::EngineCore", builds="flashinfer"
    )
    kind, message, advice = judged(found)

    assert (kind, message) == (
        "compiling",
        "the time limit of 300 s ended the run after 0 steps of 2, while compilers were at work: 16 cicc, 16 nvcc and "
        "1 ninja, started by VLLM::EngineCore",
    )
    assert advice.startswith("give a larger --time-limit")
    assert "--set VLLM_USE_FLASHINFER_MOE_FP16=0" in advice


def test_only_what_builds_flashinfer_is_told_to_leave_it_out() -> None:
    assert "FLASHINFER" not in judged(Busy(compilers={"cc1plus": 1}))[2]


def test_a_hang_says_what_the_processes_did() -> None:
    kind, message, _ = judged(Busy(processes=(Load("python3 train.py", 1.0),), count=4))

    assert kind == "hang"
    assert message.endswith("after 0 steps of 2; busiest: python3 train.py (1.0 cores)")


def test_every_report_of_a_run_that_compiles_says_so(
    tmp_path: Path, named: Callable[[str], str], own_python: None
) -> None:
    cicc = named("cicc")
    trainer = f"import subprocess\nprint('the engine starts', flush=True)\nsubprocess.run(['{cicc}', '60'])\n"
    result: SmokeResult = launch(tmp_path, {"train.py": trainer}, limit=3.0)

    assert result.cause is not None
    assert (result.verdict, result.cause.kind, result.cause.line) == (
        "failed",
        "compiling",
        "the engine starts",
    )
    assert "1 cicc, started by python3 train.py" in result.cause.message
    assert result.busy is not None
    assert result.busy.compilers == {"cicc": 1}
    for form in ("text", "json", "html", "markdown", "junit"):
        assert "cicc" in render([result], form)
    assert "busy at the limit: 1 cicc, started by python3 train.py" in render([result], "text")


def test_a_run_that_was_not_ended_at_its_limit_has_no_such_row() -> None:
    assert "busy" not in render([FAILED], "text")
