"""A plan as text and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from example_sanity.smoke.job import command_line
from example_sanity.smoke.plan import Change, SmokePlan


def as_data(plan: SmokePlan) -> dict[str, Any]:
    """Return the plan for JSON."""
    return {"version": 1, **msgspec.to_builtins(plan, enc_hook=str), "command": command_line(plan)}


def as_text(plan: SmokePlan) -> Iterator[str]:
    """Yield the lines of a plan: what will run, each change with its reason, and the command."""
    training = "supervised fine-tuning" if plan.kind == "sft" else "reinforcement learning"
    gpus = f"{plan.gpus} GPU{'' if plan.gpus == 1 else 's'}"
    yield f"{plan.script}: {training} with {plan.backend} on {gpus}, {plan.steps} optimizer steps of {_model(plan)}"
    for kind, title in (("environment", "Variables"), ("override", "Arguments")):
        changes = [change for change in plan.changes if change.kind == kind]
        if changes:
            yield ""
            yield f"{title}:"
            yield from _rows(changes)
    if plan.notes:
        yield ""
        yield from (f"note: {note}" for note in plan.notes)
    yield ""
    yield command_line(plan)


def _model(plan: SmokePlan) -> str:
    if plan.config:
        return f"a tiny {plan.model_family}"
    return str(plan.checkpoint) if plan.checkpoint else "a tiny model made of flags"


def _rows(changes: list[Change]) -> Iterator[str]:
    settings = [f"{change.name}={change.value}" for change in changes]
    width = min(max(map(len, settings)), 60)
    for text, change in zip(settings, changes, strict=True):
        was = "" if change.was is None else f" (was {change.was or 'empty'})"
        yield f"  {text:{width}}  {change.why}{was}"
