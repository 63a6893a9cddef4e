"""What became of a smoke run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from example_sanity.smoke.busy import Busy
from example_sanity.smoke.causes import Evidence
from example_sanity.smoke.plan import SmokePlan
from example_sanity.smoke.steps import Step

Verdict = Literal["passed", "failed", "could-not-start", "submitted"]


class GpuMemory(msgspec.Struct, frozen=True):
    """The memory of the fullest GPU in MiB, as nvidia-smi counts it: before the run, and its peak during it."""

    before: int
    peak: int


class SmokeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One smoke run: what ran, where, the verdict and what it rests on.

    ``where`` is ``local``, the address of a Ray cluster, or ``slurm``; ``job`` is its number there. ``command`` is the command
    line that repeats the run by hand. ``exit_status`` is that of the launcher, 128 + signal where one ended it, None where nothing ran, or
    where only the log is known.
    ``seconds`` count from the start of the last attempt. ``versions`` are those of the packages that matter, by the Python
    that the launcher finds. ``busy`` is what its processes did when the limit came. ``submitted`` is no verdict yet: the job is on its way, and its log is judged later.
    """

    verdict: Verdict
    plan: SmokePlan
    where: str = "local"
    job: str | None = None
    command: str = ""
    cause: Evidence | None = None
    steps: tuple[Step, ...] = ()
    exit_status: int | None = None
    seconds: Annotated[float, Meta(ge=0)] = 0.0
    seconds_to_first_step: float | None = None
    gpu_memory: GpuMemory | None = None
    busy: Busy | None = None
    attempts: Annotated[int, Meta(ge=1)] = 1
    versions: dict[str, str] = {}
    log: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def trainer_memory_gb(self) -> float | None:
        """The peak that the trainer itself counted, in GB; None where it prints none."""
        return max((step.memory_gb for step in self.steps if step.memory_gb is not None), default=None)
