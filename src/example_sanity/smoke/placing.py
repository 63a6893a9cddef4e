"""Where a plan runs: on this machine, on a Ray cluster, or under Slurm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from example_sanity.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from example_sanity.smoke.job import Job
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.running import Options


def starter(on: str) -> Callable[[SmokePlan, Path, Options], Job]:
    """Return what starts a job at a place, as ``Options.on`` names it. Raises UsageError for one that is none."""
    if on == "local":
        return _on_this_machine
    if on == "slurm":
        return _on_slurm
    if on.startswith(("ray://", "http://", "https://")):
        from example_sanity.smoke.on_ray import dashboard

        dashboard(on)
        return _on_ray
    raise UsageError(
        f"--on {on}: not a place to run; there are local, slurm and ray://HOST[:PORT] "
        "(or the http address of a Ray dashboard)"
    )


def _on_this_machine(plan: SmokePlan, root: Path, options: Options) -> Job:
    from example_sanity.smoke.local import LocalJob

    return LocalJob(plan, root, options.log, options.grace)


def _on_slurm(plan: SmokePlan, root: Path, options: Options) -> Job:
    from example_sanity.smoke.on_slurm import SlurmJob

    return SlurmJob(plan, root, options)


def _on_ray(plan: SmokePlan, root: Path, options: Options) -> Job:
    from example_sanity.smoke.on_ray import RayJob

    return RayJob(plan, root, options)
