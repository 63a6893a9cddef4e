"""The options of the command line that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from example_sanity.report import FORMATS

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def assignments(is_name: Callable[[str], bool]) -> Callable[..., dict[str, str]]:
    """Return what reads the values of an option that takes ``NAME=VALUE``, for some kind of names."""

    def read(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        pairs = [value.partition("=") for value in values]
        for name, equals, _ in pairs:
            if not equals or not is_name(name):
                raise click.BadParameter(f"{name!r} is not NAME=VALUE")
        return {name: value for name, _, value in pairs}

    return read


def report_option(formats: Sequence[str]) -> Any:
    """Return the option for further reports of a run, in some formats."""
    return click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT=FILE",
        callback=_reports_as(formats),
        help="Write a further report of the same run (repeatable).",
    )


def _rules_option(name: str, text: str) -> Any:
    return click.option(name, multiple=True, metavar="RULE", callback=_split, help=text)


def _split(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for value in values for word in value.split(",") if word)


def format_option(formats: Sequence[str]) -> Any:
    """Return the option for the format of the report, of some."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(formats),
        default="text",
        show_default=True,
        help="What the report is written as.",
    )


def _reports_as(formats: Sequence[str]) -> Callable[..., list[tuple[str, Path]]]:
    """Return what reads the values of ``--report``, for some formats."""

    def read(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, Path]]:
        from example_sanity.core.errors import did_you_mean

        pairs = [value.partition("=") for value in values]
        for form, _, path in pairs:
            if form not in formats:
                raise click.BadParameter(f"unknown format {form!r}{did_you_mean(form, formats)}")
            if not path:
                raise click.BadParameter(f"{form!r} is not FORMAT=FILE")
        return [(form, Path(path)) for form, _, path in pairs]

    return read


def project_options(function: Any) -> Any:
    """Add the options that say which project, under which configuration and environment."""
    return with_options(
        function,
        click.option(
            "--root", type=click.Path(path_type=Path), help="Root of the project (default: found upwards)."
        ),
        click.option("--config", type=click.Path(path_type=Path), help="Configuration file to use instead."),
        click.option("--preset", metavar="NAME", help="Conventions to start from: verl, megatron-lm, slime."),
        click.option(
            "-e",
            "--env",
            "environment",
            multiple=True,
            metavar="NAME=VALUE",
            callback=assignments(str.isidentifier),
            help="Evaluate launchers with this environment variable (repeatable).",
        ),
        click.option(
            "--engine",
            type=click.Choice(["bashkit", "bash"]),
            default="bashkit",
            show_default=True,
            help="What evaluates launchers: the sandbox, or real bash in namespaces of its own (Linux).",
        ),
        click.option(
            "--allow-local-rules",
            is_flag=True,
            envvar="EXAMPLE_SANITY_ALLOW_LOCAL_RULES",
            help="Execute the rules that the checked repository itself brings along.",
        ),
    )


def with_options(function: Any, *options: Any) -> Any:
    """Add options so that the help shows them in this order, above those that are there already."""
    for option in reversed(options):
        function = option(function)
    return function


def check_options(function: Any) -> Any:
    """Add the options of ``check`` and the families."""
    groups = (_choosing(), _running(), _mending(), _telling())
    return with_options(project_options(function), *(option for group in groups for option in group))


def _choosing() -> tuple[Any, ...]:
    """What is judged, and how that is reported."""
    return (
        click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
        _rules_option("--select", "Only these codes, names or families (repeatable, or with commas)."),
        _rules_option("--ignore", "Not these codes, names or families (repeatable, or with commas)."),
        click.option(
            "--fail-on", type=click.Choice(["error", "warning", "info"]), help="Exit 1 from this severity on."
        ),
        format_option(FORMATS),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write the report to FILE; the verdict goes to stderr.",
        ),
        report_option(FORMATS),
        click.option(
            "--color/--no-color", "colour", default=None, help="Colour the report (default: on a terminal)."
        ),
    )


def _running() -> tuple[Any, ...]:
    """How the run is made, and what of its findings counts."""
    return (
        click.option(
            "--allow-commands",
            is_flag=True,
            envvar="EXAMPLE_SANITY_ALLOW_COMMANDS",
            help="Run, in a scratch copy, the commands of the configuration that write generated files.",
        ),
        click.option("--allow-empty", is_flag=True, help="Exit 0 when there was nothing to inspect."),
        click.option(
            "--keep-roots",
            is_flag=True,
            help="Judge no file outside the roots of its rule, though PATHS name it, as the hooks do.",
        ),
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=0),
            default=0,
            help="Processes to use (default: one a processor).",
        ),
        click.option("--no-cache", is_flag=True, help="Neither use nor keep what earlier runs found."),
        click.option("--no-baseline", is_flag=True, help="Report what the baseline accepts, too."),
        click.option(
            "--changed-since", metavar="REV", help="Report only what stands on lines changed since git's REV."
        ),
    )


def _mending() -> tuple[Any, ...]:
    """Edits of the checked files."""
    return (
        click.option("--fix", is_flag=True, help="Make the safe fixes; what remains decides the exit code."),
        click.option(
            "--diff", is_flag=True, help="Print the safe fixes as a diff; exit 1 when there is one."
        ),
        click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: the unsafe ones, too."),
        click.option(
            "--add-ignore",
            multiple=True,
            metavar="RULE",
            help="Write inline suppressions for the findings of RULE (repeatable); wants --reason.",
        ),
        click.option("--reason", metavar="TEXT", help="With --add-ignore: why the rule cannot hold there."),
    )


def _telling() -> tuple[Any, ...]:
    """Other things to print, and standard input."""
    return (
        click.option(
            "--statistics", is_flag=True, help="Count the findings by rule instead of listing them."
        ),
        click.option("--show-config", is_flag=True, help="Print the configuration in force, and stop."),
        click.option("--show-files", is_flag=True, help="Print the files that would be looked at, and stop."),
        click.option(
            "--stdin-filename",
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="Check standard input ('-') as if it were this file.",
        ),
    )
