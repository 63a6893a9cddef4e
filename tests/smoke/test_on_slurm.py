"""Slurm: the sbatch file, and a stub of sbatch and scancel that runs it on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from example_sanity.smoke.on_slurm import batch_file
from example_sanity.smoke.result import SmokeResult
from example_sanity.smoke.running import Options, run
from smoke.runs import LAUNCHER, STEPS, plan

pytestmark = pytest.mark.usefixtures("own_python")

# Runs the file with its output where #SBATCH --output says, as Slurm would, and notes its own options.
SBATCH = """\
#!/usr/bin/env bash
printf '%s\\n' "$@" > "$STUB/options"
if [[ -e $STUB/refuse ]]; then
    echo "sbatch: error: invalid partition specified: gpu" >&2
    exit 1
fi
echo "4711;cluster"
file=${!#}
log=$(sed -n 's/^#SBATCH --output=//p' "$file")
if [[ -e $STUB/late ]]; then
    exec sleep 600
fi
setsid bash "$file" > "$log" 2>&1 &
echo $! > "$STUB/job"
if [[ " $* " == *" --wait "* ]]; then
    wait $!
fi
"""
SCANCEL = """\
#!/usr/bin/env bash
echo "$1" > "$STUB/cancelled"
if [[ -e $STUB/late ]]; then
    exit
fi
job=$(cat "$STUB/job")
echo "slurmstepd: error: *** JOB $1 CANCELLED ***" >> "$STUB/../run.log"
kill "$job"
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the stubs, first on PATH."""
    folder = tmp_path / "stub"
    folder.mkdir()
    for name, text in {"sbatch": SBATCH, "scancel": SCANCEL}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("STUB", str(folder))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def submit(tmp_path: Path, program: str, **options: Any) -> SmokeResult:
    root = tmp_path / "a root"
    root.mkdir()
    # One process, which the stub of scancel can end by its number.
    (root / "run.sh").write_text(LAUNCHER.replace("python3", "exec python3"))
    (root / "train.py").write_text(program)
    return run(plan(), root, Options(log=tmp_path / "run.log", on="slurm", **options))


def test_the_batch_file(tmp_path: Path) -> None:
    given = plan(
        environment={"MODEL_PATH": "/m x"}, arguments=("a=[1, 2]",), gpus=8, script="examples/run_a.sh"
    )
    log = tmp_path / "run.log"

    assert (
        batch_file(given, Path("/the root"), Options(log=log, limit=1800))
        == f"""\
#!/usr/bin/env bash
#SBATCH --job-name=smoke-run_a
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --time=35
#SBATCH --output={log}
set -euo pipefail
cd '/the root'
export MODEL_PATH='/m x'
export PYTHONUNBUFFERED=1
exec bash examples/run_a.sh 'a=[1, 2]'
"""
    )


def test_bash_reads_the_batch_file(tmp_path: Path) -> None:
    text = batch_file(plan(environment={"A": "it's $HOME"}), tmp_path, Options(log=tmp_path / "log"))

    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def test_a_job_that_passes(tmp_path: Path, stub: Path) -> None:
    result = submit(tmp_path, STEPS, sbatch=("--partition=gpu", "--account=a"))

    assert (result.verdict, result.where, result.job) == ("passed", "slurm", "4711")
    assert (stub / "options").read_text().splitlines() == [
        "--parsable",
        "--wait",
        "--partition=gpu",
        "--account=a",
        str(tmp_path / "run.sbatch"),
    ]


def test_a_job_that_fails_has_its_cause(tmp_path: Path, stub: Path) -> None:
    result = submit(tmp_path, "import a_module_that_nobody_has\n")

    assert result.cause is not None
    assert (result.verdict, result.cause.kind, result.exit_status) == ("failed", "missing-module", 1)
    assert not (stub / "cancelled").exists()


def test_a_job_is_cancelled_at_the_limit(tmp_path: Path, stub: Path) -> None:
    result = submit(tmp_path, "import time; time.sleep(600)\n", limit=0.5)

    assert result.verdict == "failed"
    assert (stub / "cancelled").read_text() == "4711\n"


def test_a_job_whose_turn_does_not_come_is_cancelled(
    tmp_path: Path, stub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stub / "late").touch()
    monkeypatch.setattr("example_sanity.smoke.on_slurm._SECONDS", 0.2)
    result = submit(tmp_path, STEPS, limit=0.3)

    assert result.cause is not None
    assert (result.verdict, result.cause.kind) == ("could-not-start", "not-scheduled")
    assert (stub / "cancelled").read_text() == "4711\n"


def test_a_job_can_be_left_to_itself(tmp_path: Path, stub: Path) -> None:
    result = submit(tmp_path, STEPS, wait=False)

    assert (result.verdict, result.job) == ("submitted", "4711")
    assert "--wait" not in (stub / "options").read_text().splitlines()


def test_a_job_that_is_not_accepted(tmp_path: Path, stub: Path) -> None:
    (stub / "refuse").touch()
    result = submit(tmp_path, STEPS)

    assert result.cause is not None
    assert result.verdict == "could-not-start"
    assert result.cause.message.endswith("invalid partition specified: gpu")


def test_without_slurm_nothing_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = submit(tmp_path, STEPS)

    assert result.cause is not None
    assert result.cause.message == "cannot start sbatch: No such file or directory"
