"""``smoke`` from the command line: a launcher of verl, a ``python3`` of ours that writes steps, and the reports."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from example_sanity.smoke import command
from helpers import Write, cli
from smoke.planned import PPO

SCRIPT = "examples/ppo/run_qwen3_8b_fsdp.sh"
STEPS = """\
for step in (1, 2):
    print(f"step:{step} - actor/pg_loss:0.25 - actor/grad_norm:10.5 - critic/rewards/mean:0.5")
"""
Smoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def smoke(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Smoke:
    """Return a function that calls ``smoke`` on the launcher, with a python3 that runs a program."""

    def call(program: str, *arguments: str) -> tuple[int, str, str]:
        python = f'#!/usr/bin/env bash\nexec "{sys.executable}" -u "{tmp_path}/program.py"\n'
        root = write({SCRIPT: PPO, "example-sanity.toml": "", "bin/python3": python, "program.py": program})
        (root / "bin/python3").chmod(0o755)
        monkeypatch.setenv("PATH", str(root / "bin"), prepend=os.pathsep)
        # Making checkpoints takes torch, which the tests of the command do not need.
        monkeypatch.setattr(command, "prepare", lambda plan: plan)
        monkeypatch.chdir(root)
        return cli(capsys, "smoke", SCRIPT, "--gpus", "1", *arguments)

    return call


def test_a_run_that_passes(smoke: Smoke, tmp_path: Path) -> None:
    reports = [f"--report={form}=report.{form}" for form in ("json", "junit", "markdown", "html")]
    code, out, err = smoke(STEPS, "--log", "run.log", *reports)

    assert code == 0, out + err
    assert out.startswith(f"{SCRIPT}: passed: 2 optimizer steps in ")
    assert "step 2: loss 0.25, grad norm 10.5, reward 0.5" in err
    assert (tmp_path / "run.log").read_text().count("step:") == 2
    assert json.loads((tmp_path / "report.json").read_text())["runs"][0]["verdict"] == "passed"
    for form in ("junit", "markdown", "html"):
        assert SCRIPT.partition("_")[0] in (tmp_path / f"report.{form}").read_text().replace("\\", "")


@pytest.mark.parametrize(
    ("program", "code", "shown"),
    [
        ("import a_module_that_nobody_has\n", 1, "[missing-module]"),
        ("raise RuntimeError('No CUDA GPUs are available')\n", 4, "could not start: "),
        (STEPS.replace("(1, 2)", "(1,)"), 1, "[too-few-steps]"),
    ],
)
def test_the_exit_code_tells_the_verdict(smoke: Smoke, program: str, code: int, shown: str) -> None:
    found, out, _ = smoke(program)

    assert (found, shown in out) == (code, True)


def test_a_log_from_elsewhere_is_judged(smoke: Smoke, tmp_path: Path) -> None:
    (tmp_path / "old.log").write_text("step:1 - train/loss:nan\n")

    code, out, _ = smoke("raise SystemExit('not to be started')", "--judge", "old.log", "--format", "json")

    assert code == 1
    assert json.loads(out)["runs"][0]["cause"]["kind"] == "non-finite-loss"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--no-wait",), "--no-wait is for a cluster"),
        (("--sbatch-arg=-p",), "--sbatch-arg goes with --on slurm"),
        (("--on", "lsf"), "--on lsf: not a place to run"),
        (("--on", "ray://"), "--on ray://: names no host"),
        (("--report", "pdf=x"), "unknown format 'pdf'"),
        (("--report", "json=no/folder/x"), "there is no folder no/folder"),
        (("--plan", "--format", "html"), "a plan is written as text or json"),
        (("--time-limit", "nan"), "nan is not a number of minutes"),
        (("--time-limit", "inf"), "inf is not a number of minutes"),
        (("--log", f"{SCRIPT}/run.log"), f"/{SCRIPT}/run.log: File exists; choose another place with --log"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_starts(
    smoke: Smoke, tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    code, _, err = smoke("open('started', 'w')", *arguments)

    assert code == 2
    assert text in err
    assert not (tmp_path / "started").exists()
