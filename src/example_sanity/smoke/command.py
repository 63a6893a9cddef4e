"""The command ``smoke``: plan, prepare, run, report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from example_sanity import session
from example_sanity.core.cache import folder_of
from example_sanity.core.errors import ExitCode, UsageError, did_you_mean
from example_sanity.doctor import gpus as devices
from example_sanity.smoke import planning, showing
from example_sanity.smoke.executing import Call, execute
from example_sanity.smoke.families import FAMILIES
from example_sanity.smoke.plan import SmokePlan
from example_sanity.smoke.preparing import prepare


def smoke(  # noqa: PLR0913  # the options of the command, by keyword
    *,
    script: Path,
    form: str,
    gpus: int | None,
    steps: int | None,
    family: str | None,
    settings: Mapping[str, str],
    folder: Path | None,
    plan_only: bool,
    prepare_only: bool,
    allow_kill: bool,
    **options: Any,
) -> int:
    """Run a launcher, print the plan of its run, or make its files and print how to start it. Raises UsageError for a refusal."""
    call = Call(form=form, **{name: options.pop(name) for name in Call.__struct_fields__ if name in options})
    call.check()
    if form not in ("text", "json") and (plan_only or prepare_only):
        raise UsageError(f"--format {form} is for a run; a plan is written as text or json")
    if family is not None and family not in FAMILIES:
        raise UsageError(
            f"--family {family}: no such family{did_you_mean(family, FAMILIES)}; there are: {', '.join(FAMILIES)}"
        )
    run = session.open_run([script], **options)
    wish = planning.Wish(
        gpus=gpus or _visible(),
        folder=(folder or folder_of(run.project.root) / "smoke").resolve(),
        steps=steps,
        family=family,
        settings={**run.environment, **settings},
        allow_kill=allow_kill,
    )
    found = planning.plan(run, script, wish)
    if call.judge is not None and not (plan_only or prepare_only):
        return execute(found, run.project.root, call)
    made = found if plan_only else prepare(found)
    if not plan_only and not prepare_only:
        return execute(made, run.project.root, call)
    _show(made, form)
    return ExitCode.CLEAN


def _visible() -> int:
    """Return how many GPUs this machine shows: to nvidia-smi, else to torch. Raises UsageError where there is none."""
    found = devices.visible()
    count = len(found.names) or _seen_by_torch()
    if not count:
        why = found.problem or "CUDA_VISIBLE_DEVICES hides all of them"
        raise UsageError(f"no GPU to run on: {why}; say for how many with --gpus")
    return count


def _seen_by_torch() -> int:
    try:
        import torch
    except ImportError:
        return 0
    return int(torch.cuda.device_count())


def _show(plan: SmokePlan, form: str) -> None:
    if form == "json":
        from example_sanity.report.json import encode

        click.echo(encode(showing.as_data(plan)), nl=False)
    else:
        click.echo("\n".join(showing.as_text(plan)))
