"""Real bash, small programs that fail in one way each, and the verdict. The good runs come first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.smoke import supervisor
from example_sanity.smoke.local import LocalJob
from example_sanity.smoke.report import render
from example_sanity.smoke.running import Options, read_log, run
from smoke.runs import LAUNCHER, STEPS, launch, plan

GRPO = """\
for step in (1, 2):
    print(f"(TaskRunner pid=7) step:{step} - actor/pg_loss:0.0 - actor/grad_norm:0.0 - critic/rewards/mean:0.0")
"""
MEGATRON = """\
for step in (1, 2):
    print(f" iteration {step:8d}/{2:8d} | lm loss: 6.97E+00 | grad norm: 1.5 | number of nan iterations:   0 |")
"""
SLIME = """\
for step in (0, 1):
    print(f"rollout {step}: {{'rollout/raw_reward': 0.5}}")
    print(f"step {step}: {{'train/loss': 0.25, 'train/grad_norm': 1.5}}")
"""


pytestmark = pytest.mark.usefixtures("own_python")


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def written(file: Path) -> int:
    """Wait for the number that a program writes into a file."""
    while not file.exists() or not file.read_text().strip():
        time.sleep(0.05)
    return int(file.read_text())


@pytest.mark.parametrize(
    ("trainer", "kind"), [(STEPS, "sft"), (GRPO, "rl"), (MEGATRON, "sft"), (SLIME, "rl")]
)
def test_runs_that_pass(tmp_path: Path, trainer: str, kind: str) -> None:
    result = launch(tmp_path, {"train.py": trainer}, kind=kind)

    assert (result.verdict, result.cause, result.exit_status) == ("passed", None, 0)
    assert [step.number for step in result.steps] == [1, 2]
    assert result.seconds_to_first_step is not None


def test_a_run_that_has_ended_before_the_first_look_took_some_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("example_sanity.smoke.running.time.monotonic", lambda: 7.0)
    result = launch(tmp_path, {"train.py": STEPS})

    assert (result.verdict, result.seconds) == ("passed", 0.1)


def test_the_launcher_gets_the_environment_and_the_arguments_of_the_plan(tmp_path: Path) -> None:
    trainer = (
        f"import os, sys\nprint(os.environ['PP'], os.environ['PYTHONUNBUFFERED'], sys.argv[1:])\n{STEPS}"
    )
    result = launch(tmp_path, {"train.py": trainer}, environment={"PP": "1"}, arguments=("a.b=c d", "--x"))

    assert result.log is not None
    assert result.log.read_text().splitlines()[0] == "1 1 ['a.b=c d', '--x']"
    assert result.command == "env PP=1 bash run.sh 'a.b=c d' --x"


def test_further_steps_and_noise_do_no_harm(tmp_path: Path) -> None:
    trainer = (
        "print('ModuleNotFoundError: No module named \\'apex\\'')\n"
        f"print('step:0 - val/loss:7.0')\n{STEPS}print('step:3 - train/loss:1.0', end='')\n"
    )
    result = launch(tmp_path, {"train.py": trainer})

    assert result.verdict == "passed"
    assert [step.number for step in result.steps] == [1, 2, 3]


FAILURES = {
    "missing-module": ("import a_module_that_nobody_has", "line 3:"),
    "bad-override": ("print('Could not override \\'trainer.nnode\\'.'); raise SystemExit(1)", "line 1:"),
    "wrong-flag": ("import argparse; argparse.ArgumentParser().parse_args(['--no-such-flag'])", "line 2:"),
    "cuda-out-of-memory": (
        "class OutOfMemoryError(RuntimeError): pass\nraise OutOfMemoryError('CUDA out of memory. Tried to allocate')",
        "",
    ),
    "non-finite-loss": ("print('step:1 - train/loss:nan - train/grad_norm:1.0')", ""),
    "no-step-line": ("print('done')", ""),
    "too-few-steps": ("print('step:1 - train/loss:1.0 - train/grad_norm:1.0')", ""),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ""),
    "crashed": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", ""),
    "missing-file": ("open('/nowhere/train.parquet')", ""),
    "exception": ("raise ValueError('3 is not a multiple of 2')", ""),
    "exit-status": ("raise SystemExit(3)", ""),
    "no-gradient": ("for n in (1, 2): print(f'step:{n} - train/loss:1.0 - train/grad_norm:0.0')", ""),
    "init-timeout": (
        "class DistStoreError(Exception): pass\nraise DistStoreError('Timed out after 601 seconds waiting for clients')",
        "",
    ),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_each_failure_has_its_cause(tmp_path: Path, kind: str) -> None:
    result = launch(tmp_path, {"train.py": FAILURES[kind][0] + "\n"})

    assert result.cause is not None
    assert (result.verdict, result.cause.kind) == ("failed", kind)
    assert result.cause.message
    assert result.cause.advice


def test_the_line_that_shows_the_cause(tmp_path: Path) -> None:
    result = launch(tmp_path, {"train.py": "print('hello')\nimport a_module_that_nobody_has\n"})

    assert result.cause is not None
    assert result.log is not None
    assert result.cause.line == "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"
    assert result.log.read_text().splitlines()[(result.cause.line_number or 0) - 1] == result.cause.line


@pytest.mark.parametrize(
    "trainer", ["raise OSError('Address already in use')", "raise RuntimeError('No CUDA GPUs are available')"]
)
def test_without_a_step_the_surroundings_keep_a_run_from_starting(tmp_path: Path, trainer: str) -> None:
    assert launch(tmp_path, {"train.py": trainer}).verdict == "could-not-start"
    assert launch(tmp_path, {"train.py": STEPS + trainer}).verdict == "failed"


def test_a_failure_after_the_steps_is_one(tmp_path: Path) -> None:
    result = launch(tmp_path, {"train.py": f"{STEPS}raise ValueError('no')\n"})

    assert result.verdict == "failed"
    assert result.cause is not None
    assert result.cause.message.endswith("(after 2 steps)")


def test_a_failure_that_the_launcher_swallows_is_shown(tmp_path: Path) -> None:
    files = {"run.sh": LAUNCHER.replace('"$@"', "|| true"), "train.py": "import a_module_that_nobody_has\n"}
    result = launch(tmp_path, files)

    assert result.exit_status == 0
    assert result.cause is not None
    assert result.cause.kind == "no-step-line"
    assert "a_module_that_nobody_has is not installed" in result.cause.message


def test_rl_without_rewards_has_not_passed(tmp_path: Path) -> None:
    result = launch(tmp_path, {"train.py": GRPO.replace("critic/rewards", "critic/values")}, kind="rl")

    assert result.cause is not None
    assert result.cause.kind == "no-reward"


def test_a_run_is_ended_at_its_limit(tmp_path: Path) -> None:
    result = launch(tmp_path, {"run.sh": "sleep 600\nsleep 600\n"}, limit=0.5)

    assert result.cause is not None
    assert (result.verdict, result.exit_status) == ("failed", 143)
    assert result.cause.kind in ("hang", "time-limit")


def test_all_that_a_launcher_started_ends_with_it(tmp_path: Path) -> None:
    # Deaf to SIGTERM, and a child in a session of its own that its parent has left: both go.
    script = """\
trap '' TERM
(setsid bash -c 'trap "" TERM; echo $$ > pid; sleep 600; sleep 600' &)
sleep 600
sleep 600
"""
    (tmp_path / "run.sh").write_text(script)
    job = LocalJob(plan(), tmp_path, tmp_path / "log", grace=0.2)
    pid = written(tmp_path / "pid")
    job.stop()

    assert job.poll() == 143
    assert not alive(pid)


def test_what_outlives_the_launcher_is_ended(tmp_path: Path) -> None:
    script = f"(setsid bash -c 'echo $$ > pid; exec sleep 600' &)\nuntil [[ -s pid ]]; do sleep 0.05; done\n{LAUNCHER}"
    result = launch(tmp_path, {"run.sh": script, "train.py": STEPS})

    assert result.verdict == "passed"
    assert not alive(int((tmp_path / "pid").read_text()))


def test_nothing_stays_when_this_process_is_killed(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("echo $$ > pid\nsleep 600\nsleep 600\n")
    program = f"""\
import subprocess, sys
subprocess.Popen([sys.executable, {supervisor.__file__!r}, "0.2", "bash", "run.sh"])
sys.stdin.read()
"""
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE)
    pid = written(tmp_path / "pid")
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    until = time.monotonic() + 30
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)

    assert not alive(pid)


def test_ray_gets_a_second_attempt(tmp_path: Path) -> None:
    trainer = f"""\
import pathlib
if not pathlib.Path("tried").exists():
    pathlib.Path("tried").touch()
    raise Exception("Failed to get node info: Deadline Exceeded")
{STEPS}"""
    result = launch(tmp_path, {"train.py": trainer})

    assert (result.verdict, result.attempts) == ("passed", 2)
    assert "Deadline Exceeded" in (tmp_path / "logs/run.log.1").read_text()


def test_and_no_third(tmp_path: Path) -> None:
    trainer = (
        "print('x', file=open('tried', 'a'))\nraise Exception('Failed to get node info: Deadline Exceeded')\n"
    )
    result = launch(tmp_path, {"train.py": trainer})

    assert result.cause is not None
    assert (result.verdict, result.cause.kind, result.attempts) == ("could-not-start", "ray-not-up", 2)
    assert (tmp_path / "tried").read_text() == "x\nx\n"


def test_a_launcher_that_is_not_there_cannot_start(tmp_path: Path) -> None:
    result = launch(tmp_path, {}, script="gone.sh")

    assert result.cause is not None
    assert (result.verdict, result.exit_status) == ("could-not-start", None)
    assert result.cause.message == f"there is no file gone.sh under {tmp_path}"


def test_an_unknown_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--on lsf: not a place to run"):
        run(plan(), tmp_path, Options(log=tmp_path / "log", on="lsf"))


def test_a_log_from_elsewhere_is_judged(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "step:1 - train/loss:6.5 - train/grad_norm:1.0\rstep:2 - train/loss:6.25 - train/grad_norm:1.0\r\n"
    )

    found = read_log(plan(), log)
    assert (found.verdict, found.exit_status, found.seconds_to_first_step) == ("passed", None, None)
    assert [step.seconds for step in found.steps] == [None, None]
    assert "0 s" not in render([found], "text")
    assert read_log(plan(), log, exit_status=1).verdict == "failed"


@pytest.mark.parametrize(
    ("command", "status"), [("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_the_supervisor_passes_on_how_its_command_ended(command: str, status: int) -> None:
    program = [sys.executable, "-W", "error", supervisor.__file__, "0.2", "bash", "-c", command]

    assert [subprocess.run(program, check=False).returncode for _ in range(5)] == [status] * 5
