"""Makes the files of a plan: the tiny checkpoint, unless it is there, and the tiny data."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from example_sanity.core.errors import UsageError
from example_sanity.smoke import data
from example_sanity.smoke.checkpoints import store
from example_sanity.smoke.plan import SmokePlan


def prepare(plan: SmokePlan, folder: Path | None = None) -> SmokePlan:
    """Return the plan with its files made. Raises UsageError where a package that makes them is missing, or they cannot be written.

    ``folder`` is that of the plan, whose settings name the files in it. A model that the user names is left as it is.
    """
    home = folder or Path(plan.folder)
    try:
        return _made(plan, home)
    except OSError as error:
        place = error.filename or home
        raise UsageError(
            f"cannot write {place}: {error.strerror or error}; choose another place with --folder"
        ) from error


def _made(plan: SmokePlan, home: Path) -> SmokePlan:
    checkpoint = plan.checkpoint
    if plan.config:
        checkpoint = store.location(home, plan.model_family, plan.config)
        store.make(checkpoint, plan.config)
    place = data.location(home, plan.kind)
    named = any(str(place) in text for text in (*plan.environment.values(), *plan.arguments))
    return replace(plan, checkpoint=checkpoint, data=data.write(place, plan.kind) if named else ())
