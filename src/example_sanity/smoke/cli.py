"""The command ``smoke``: what it is called with."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from example_sanity.options import (
    CONTEXT,
    assignments,
    format_option,
    project_options,
    report_option,
    with_options,
)
from example_sanity.smoke.report import FORMATS


def _finite(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    # Nothing is larger than nan, so that a range lets it through and no time would ever be over.
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of minutes")
    return value


def _place_options(function: Any) -> Any:
    """Add the options that say where a smoke run runs, for how long, and what is written about it."""
    return with_options(
        function,
        click.option(
            "--on",
            default="local",
            show_default=True,
            metavar="PLACE",
            help="Run it here (local), on a Ray cluster (ray://HOST[:PORT], or http:// and its dashboard), or on slurm.",
        ),
        click.option("--no-wait", is_flag=True, help="On a cluster: submit it, and leave it to itself."),
        click.option(
            "--sbatch-arg",
            "sbatch",
            multiple=True,
            metavar="OPTION",
            help="With --on slurm: a further option of sbatch (repeatable).",
        ),
        click.option(
            "--time-limit",
            type=click.FloatRange(0, min_open=True),
            default=30,
            callback=_finite,
            show_default=True,
            metavar="MINUTES",
            help="End the launcher, and all that it started, after so long.",
        ),
        click.option(
            "--log",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Where the log goes (default: logs/ in the folder of the files).",
        ),
        click.option(
            "--judge",
            type=click.Path(path_type=Path, dir_okay=False, exists=True),
            metavar="LOG",
            help="Judge the log of a run that ended elsewhere, and start nothing.",
        ),
        format_option(FORMATS),
        report_option(FORMATS),
    )


@click.command(context_settings=CONTEXT, short_help="Run it for real, scaled down to the GPUs at hand.")
@click.argument("script", type=click.Path(path_type=Path))
@click.option(
    "--gpus", type=click.IntRange(1), help="GPUs to run on (default: those that this machine shows)."
)
@click.option(
    "--steps", type=click.IntRange(1), help="Optimizer steps to see (default: 4 for SFT, 2 for RL)."
)
@click.option(
    "--family", metavar="NAME", help="Family of the tiny model (default: as the launcher names it)."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=assignments(bool),
    help="A knob, override or flag of the launcher that wins over the plan (repeatable).",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where the tiny checkpoint and data go (default: the cache of the project).",
)
@click.option(
    "--allow-kill", is_flag=True, help="Run a launcher that ends processes of this machine by name (pkill)."
)
@click.option("--plan", "plan_only", is_flag=True, help="Print what would run, with the reasons, and stop.")
@click.option("--prepare", "prepare_only", is_flag=True, help="Make the files, print the plan, and stop.")
@_place_options
@project_options
def smoke(**options: Any) -> int:
    """Run SCRIPT for real, scaled down: a tiny random model of the right family, tiny data, a few optimizer steps.

    Exits 0 when it passed, 1 when it failed, 2 when it is refused, 4 when it could not start.

    What must shrink is set through the launcher's own variables, else behind its arguments; a launcher that lets nothing in
    is refused, with the line. The result is checked by the rules for meshes, batches, overrides and flags before anything starts.
    """
    from example_sanity.smoke import command

    return command.smoke(**options)
