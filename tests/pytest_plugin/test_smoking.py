"""Smoke runs as items: which there are, and what becomes of them with and without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from example_sanity.doctor.gpus import Gpus
from example_sanity.smoke import preparing
from pytest_runs import Repository, Run
from smoke.planned import PPO

pytest_plugins = ["pytester"]

SCRIPT = "examples/ppo/run_qwen3_8b_fsdp.sh"
FILES = {
    "pyproject.toml": "[tool.example-sanity]\npreset = 'verl'\n",
    SCRIPT: PPO,
    "examples/ppo/prepare.sh": "python3 prepare.py\n",
    "tests/test_a.py": "def test_a(): pass\n",
}
STEPS = """\
for step in (1, 2):
    print(f"step:{step} - actor/pg_loss:0.25 - actor/grad_norm:10.5 - critic/rewards/mean:0.5")
"""


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "example_sanity.doctor.gpus.visible", lambda: Gpus(problem="no nvidia-smi on this machine")
    )


@pytest.fixture
def python(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that ``python3`` runs on a machine that seems to have one GPU."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "program.py"
    (folder / "python3").write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" "{program}"\n')
    (folder / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr("example_sanity.doctor.gpus.visible", lambda: Gpus(("A GPU",)))
    # Making checkpoints takes torch.
    monkeypatch.setattr(preparing, "prepare", lambda plan: plan)
    return program


@pytest.mark.usefixtures("no_gpu")
def test_without_the_flag_there_is_none(repository: Repository, sanity: Run) -> None:
    repository(FILES)

    sanity().assert_outcomes(passed=1)


@pytest.mark.usefixtures("no_gpu")
def test_there_is_one_item_for_each_launcher_that_trains(repository: Repository, sanity: Run) -> None:
    repository(FILES)
    result = sanity("--example-sanity-smoke", "--collect-only", "-q")

    assert [line for line in result.outlines if "::" in line] == [
        "tests/test_a.py::test_a",
        f"{SCRIPT}::smoke",
    ]


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_it_is_skipped_with_the_reason(repository: Repository, sanity: Run) -> None:
    repository(FILES)
    result = sanity("--example-sanity-smoke", "-rs")

    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * no GPU: no nvidia-smi on this machine"])


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("arguments", "passed", "skipped"),
    [
        (("-m", "gpu"), 0, 1),
        (("-m", "not gpu"), 1, 0),
        ((f"{SCRIPT}::smoke",), 0, 1),
        ((SCRIPT,), 0, 1),
        (("examples",), 0, 1),
        (("tests",), 1, 0),
    ],
)
def test_items_are_chosen_as_others_are(
    repository: Repository, sanity: Run, arguments: tuple[str, ...], passed: int, skipped: int
) -> None:
    repository(FILES)

    sanity("--example-sanity-smoke", *arguments).assert_outcomes(passed=passed, skipped=skipped)


@pytest.mark.usefixtures("no_gpu")
def test_it_goes_with_the_rules(repository: Repository, sanity: Run) -> None:
    repository(FILES)
    result = sanity("--example-sanity", "--example-sanity-smoke", "--collect-only", "-q")

    shown = [line for line in result.outlines if line.startswith(SCRIPT)]
    assert f"{SCRIPT}::mesh" in shown
    assert shown.count(f"{SCRIPT}::smoke") == 1


def test_a_run_that_passes(repository: Repository, sanity: Run, python: Path) -> None:
    repository(FILES)
    python.write_text(STEPS)

    sanity("--example-sanity-smoke", "-m", "gpu").assert_outcomes(passed=1)


def test_a_run_that_fails_shows_its_report(repository: Repository, sanity: Run, python: Path) -> None:
    repository(FILES)
    python.write_text("import a_module_that_nobody_has\n")
    result = sanity("--example-sanity-smoke", "-m", "gpu")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"{SCRIPT}: failed: the module a_module_that_nobody_has is not installed*"])
    result.stdout.no_fnmatch_line("*Traceback*smoking.py*")


def test_a_launcher_that_is_refused_fails_with_the_reason(
    repository: Repository, sanity: Run, python: Path
) -> None:
    repository({**FILES, SCRIPT: PPO.replace(' "$@"', "")})
    python.write_text("raise SystemExit('not to be started')\n")
    result = sanity("--example-sanity-smoke", "-m", "gpu")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"refused: {SCRIPT}*"])
