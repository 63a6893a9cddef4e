"""Makes the files of a plan: the tiny checkpoint, unless it is there, and the tiny data."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from example_sanity.smoke import data
from example_sanity.smoke.checkpoints import store
from example_sanity.smoke.plan import SmokePlan


def prepare(plan: SmokePlan, folder: Path | None = None) -> SmokePlan:
    """Return the plan with its files made. Raises UsageError where a package that makes them is missing.

    ``folder`` is that of the plan, whose settings name the files in it. A model that the user names is left as it is.
    """
    home = folder or Path(plan.folder)
    checkpoint = plan.checkpoint
    if plan.config:
        checkpoint = store.location(home, plan.model_family, plan.config)
        store.make(checkpoint, plan.config)
    files = data.write(data.location(home, plan.kind), plan.kind)
    return replace(plan, checkpoint=checkpoint, data=files)
