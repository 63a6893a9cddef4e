"""Smoke runs of small launchers that start small programs, and what the tests of this folder share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from example_sanity.smoke.causes import Evidence
from example_sanity.smoke.plan import Change, SmokePlan
from example_sanity.smoke.result import GpuMemory, SmokeResult
from example_sanity.smoke.running import Options, run
from example_sanity.smoke.steps import Step

LAUNCHER = '#!/usr/bin/env bash\nset -euo pipefail\npython3 train.py "$@"\n'
STEPS = """\
for step in range(1, 3):
    print(f"step:{step} - train/loss:{7 - step / 8} - train/grad_norm:10.5")
"""


def plan(**changed: Any) -> SmokePlan:
    """Return a plan for run.sh with two steps of SFT."""
    given: dict[str, Any] = {
        "script": "run.sh",
        "environment": {},
        "arguments": (),
        "changes": (),
        "gpus": 1,
        "nodes": 1,
        "steps": 2,
        "kind": "sft",
        "backend": "megatron_lite",
        "model_family": "kimi_k2",
    }
    return SmokePlan(**{**given, **changed})


def launch(
    root: Path, files: Mapping[str, str], *, limit: float = 60.0, grace: float = 0.2, **changed: Any
) -> SmokeResult:
    """Write the files (run.sh is LAUNCHER where there is none) and run run.sh under real bash."""
    for name, text in {"run.sh": LAUNCHER, **files}.items():
        (root / name).write_text(text)
    return run(plan(**changed), root, Options(log=root / "logs/run.log", limit=limit, grace=grace))


PASSED = SmokeResult(
    verdict="passed",
    plan=plan(
        environment={"PP": "1"},
        arguments=("trainer.save_freq=-1",),
        changes=(
            Change("PP", "1", "8", "one GPU can hold no more", "environment"),
            Change("trainer.save_freq", "-1", None, "nothing is kept", "override"),
        ),
        notes=("MLITE_ROOT comes from the environment",),
    ),
    command="env PP=1 bash run.sh trainer.save_freq=-1",
    steps=(
        Step(1, loss=6.974, grad_norm=10.25, memory_gb=0.3, seconds=19.0),
        Step(2, loss=6.5, grad_norm=9.0, memory_gb=0.31, seconds=20.25),
    ),
    exit_status=0,
    seconds=24.5,
    seconds_to_first_step=19.0,
    gpu_memory=GpuMemory(10, 1234),
    versions={"python": "3.12.3", "torch": "2.11.0"},
)
FAILED = SmokeResult(
    verdict="failed",
    plan=plan(script="examples/run <b>.sh"),
    command="bash 'examples/run <b>.sh'",
    cause=Evidence(
        "non-finite-loss",
        "train/loss of step 1 is not a finite number",
        "look at the weights",
        "step:1 - train/loss:nan | $x",
        12,
    ),
    steps=(Step(1, grad_norm=1.0, seconds=3.0, non_finite=("train/loss",)),),
    exit_status=0,
    seconds=4.0,
    seconds_to_first_step=3.0,
    attempts=2,
)
NOT_STARTED = SmokeResult(
    verdict="could-not-start",
    plan=plan(),
    where="slurm",
    command="bash run.sh",
    cause=Evidence("missing-command", "cannot start sbatch", "run it where Slurm is installed"),
)
