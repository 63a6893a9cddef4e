"""The command line. Every command is thin: it opens a session, does one thing, and returns an exit code."""

from __future__ import annotations

import gc
import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import click

from example_sanity.checks import FAMILIES
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.options import CONTEXT, check_options, project_options
from example_sanity.report import FORMATS

_EXIT_CODES = """\b
Exit codes:
  0  clean
  1  findings at or above --fail-on
  2  the call or the configuration is wrong
  3  nothing was inspected (--allow-empty makes this 0)
  4  internal error"""


_SECTIONS = {
    "Check": ("check", *FAMILIES, "pr", "coverage"),
    "Look into one launcher": ("show", "plan", "doctor", "smoke"),
    "Bring it into a repository": ("init", "baseline", "completion"),
    "Read about it": ("rules", "explain", "schema"),
}


# Commands with many options of their own, imported when they are asked for.
_LAZY = {"schema": "example_sanity.schema.cli", "smoke": "example_sanity.smoke.cli"}


class Group(click.Group):
    """A group that suggests the nearest command, and knows the rule families of plugins as commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of our commands, those that are not imported yet as well."""
        return sorted({*super().list_commands(ctx), *_LAZY, *FAMILIES})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, and those that have no section last."""
        grouped = {name for names in _SECTIONS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in grouped)
        for title, names in {**_SECTIONS, "Other commands": others}.items():
            rows = [(name, self._short_help(ctx, name, formatter.width)) for name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str, width: int) -> str:
        if name in FAMILIES:
            return _short_help(FAMILIES[name][1])
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(width)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; plugins are only looked for where it is none of ours."""
        if cmd_name in FAMILIES:
            return _family_command(cmd_name, FAMILIES[cmd_name][1])
        if cmd_name in _LAZY:
            command: click.Command = getattr(importlib.import_module(_LAZY[cmd_name]), cmd_name)
            return command
        found = super().get_command(ctx, cmd_name)
        if found is not None or not cmd_name.isidentifier():
            return found
        from example_sanity import checks

        titles = {
            family.name: family.title for family in checks.registry().families if family.name != "system"
        }
        return _family_command(cmd_name, titles[cmd_name]) if cmd_name in titles else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a subcommand; an unknown one is a usage error with the nearest name."""
        from example_sanity.core.errors import did_you_mean

        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"no such command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from example_sanity.session import versions

        click.echo("\n".join(versions()))
        ctx.exit()


@click.group(cls=Group, context_settings=CONTEXT, epilog=_EXIT_CODES)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version, and those of plugins, and stop.",
)
def cli() -> None:
    """Know what a launch script will do before it holds 256 GPUs.

    Checks repositories that ship LLM-training launch scripts. Launchers are evaluated in an in-process sandbox;
    nothing of the checked repository is executed or imported.
    """


def _make_check(name: str, family: str | None, short: str, text: str) -> click.Command:
    @click.command(name, context_settings=CONTEXT, help=text, short_help=short, epilog=_EXIT_CODES)
    @check_options
    def command(**options: Any) -> int:
        from example_sanity.checking import Call, check

        return check(Call(family=family, **options))

    return command


cli.add_command(
    _make_check(
        "check",
        None,
        "All enabled rules, over the whole project or over PATHS.",
        "Run all enabled rules over PATHS (default: the whole project).\n\nA path may be a file or a folder.",
    )
)


@cache  # click asks for a command twice, and it has some forty options
def _family_command(name: str, title: str) -> click.Command:
    text = f"Run the rule family {name!r} over PATHS (default: the whole project).\n\nIt is about {title}."
    return _make_check(name, name, _short_help(title), text)


def _short_help(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}."


@cli.command(context_settings=CONTEXT, short_help="Title and text of a pull request.", epilog=_EXIT_CODES)
@click.option("--title", help="The title (default: that of the event).")
@click.option("--body", help="The text (default: that of the event).")
@click.option(
    "--body-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the text from FILE ('-': standard input).",
)
@click.option(
    "--event",
    type=click.Path(path_type=Path),
    envvar="GITHUB_EVENT_PATH",
    metavar="FILE",
    help="The JSON of a GitHub event on a pull request (default: GITHUB_EVENT_PATH).",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@project_options
def pr(**options: Any) -> int:
    """Check the title and the text of a pull request, from the event of a GitHub workflow or from options.

    What they should look like is said in [tool.example-sanity.sources.pull-request]. A text that is not given is not
    judged.
    """
    from example_sanity import pullrequests

    return pullrequests.check(**options)


@cli.command(context_settings=CONTEXT, short_help="What a rule finds, why, and how to fix it.")
@click.argument("rule")
def explain(rule: str) -> int:
    """Say what RULE (a code or a name) finds, why, and how to fix it."""
    from example_sanity import session

    return session.explain(rule)


@cli.command(context_settings=CONTEXT, short_help="All rules, those of plugins included.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "pre-commit"]),
    default="text",
    show_default=True,
)
def rules(form: str) -> int:
    """List all rules, those of plugins included."""
    from example_sanity import session

    return session.list_rules(form)


def _make_view(name: str, short: str, text: str, *more: Any) -> click.Command:
    @click.command(name, context_settings=CONTEXT, help=text, short_help=short)
    @click.argument("script", type=click.Path(path_type=Path))
    @click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
    @project_options
    def command(**options: Any) -> int:
        from example_sanity import session

        view: Any = getattr(session, name)
        return int(view(**options))

    for option in more:
        command = option(command)
    return command


cli.add_command(
    _make_view(
        "show",
        "What it would run: knobs, scenarios, command, settings, mesh.",
        "Show what SCRIPT would run: its knobs, scenarios, resolved command, settings and mesh.\n\n"
        "Behind each setting stand the default that it overrides and where that is written, if the program's\n"
        "configuration is known. Exits 1 when a scenario could not be evaluated.",
        click.option(
            "--diff-defaults", is_flag=True, help="Only the settings that differ from their defaults."
        ),
    )
)
cli.add_command(
    _make_view(
        "plan",
        "Whether its mesh is legal, and its own guard right.",
        "Show the parallel mesh of SCRIPT: whether it is legal, and whether the script's own guard is right.\n\n"
        "Exits 1 on an illegal mesh or a wrong guard, with the smallest counter-examples.",
        click.option(
            "--suggest",
            is_flag=True,
            help="Show the legal sizes nearest to those of the script, instead of the verdict on its guard.",
        ),
        click.option("--gpus", type=click.IntRange(1), help="With --suggest: for this number of GPUs."),
        click.option("--gpus-per-node", type=click.IntRange(1), help="With --suggest: GPUs of a node."),
        click.option("--draw", is_flag=True, help="Show which ranks share a group, as a grid for each axis."),
    )
)


@cli.command(context_settings=CONTEXT, short_help="What is installed against what a launcher asks for.")
@click.argument("script", required=False, type=click.Path(path_type=Path))
@click.option(
    "--python",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="Inspect the environment of this interpreter, virtual environment or site-packages (default: our own).",
)
@click.option(
    "--with",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="Hold the environment to this extra, dependency group, requirements file or Dockerfile, too (repeatable).",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@project_options
def doctor(**options: Any) -> int:
    """Compare what is installed with what SCRIPT and its repository ask for (default: the repository).

    Versions, extras, shadowed packages, PYTHONPATH, and the GPUs of this machine. Nothing is imported or run; exits 1 on
    a mismatch.
    """
    from example_sanity.doctor import command

    return command.doctor(**options)


@cli.command(context_settings=CONTEXT, short_help="Which CI job runs which launcher.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--uncovered", is_flag=True, help="Only the launchers that no job runs.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
@project_options
def coverage(**options: Any) -> int:
    """Show which job of continuous integration runs which launcher below PATHS (default: workflows.roots).

    Scripts are followed into the scripts that they call, with the variables that the job sets. Nothing is run.
    """
    from example_sanity.checks.workflows import command

    return command.show(**options)


@cli.command(context_settings=CONTEXT, short_help="Accept the findings of today; later, drop what is fixed.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--add", is_flag=True, help="Accept new findings, too.")
@project_options
def baseline(**options: Any) -> int:
    """Write the baseline, the file of accepted findings, or drop from it what is fixed.

    The first call accepts all findings under PATHS (default: the whole project). Later ones only remove entries that
    are gone; --add accepts new findings as well.
    """
    from example_sanity import adoption

    return adoption.baseline(**options)


@cli.command(context_settings=CONTEXT, short_help="Write a configuration after a look at the repository.")
@click.option("--root", type=click.Path(path_type=Path), help="Root of the project (default: here).")
@click.option("--preset", metavar="NAME", help="Conventions to start from (default: as detected).")
@click.option(
    "--write",
    "target",
    type=click.Choice(["pyproject.toml", "example-sanity.toml"]),
    help="File to write (default: pyproject.toml where there is one).",
)
def init(**options: Any) -> int:
    """Write a configuration after a look at the repository. One that is there already is left alone."""
    from example_sanity import initialising

    return initialising.init(**options)


@cli.command(context_settings=CONTEXT, short_help="The completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of SHELL.

    \b
    bash:  eval "$(example-sanity completion bash)"
    zsh:   eval "$(example-sanity completion zsh)"
    fish:  example-sanity completion fish > ~/.config/fish/completions/example-sanity.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    template = found(cli, {}, "example-sanity", "_EXAMPLE_SANITY_COMPLETE")
    click.echo(template.source_template % template.source_vars())
    return ExitCode.CLEAN


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    # A run makes many objects that live to its end, and few circles: to look for those more often costs a tenth of its time.
    gc.set_threshold(200_000, 20, 20)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        code = cli.main(args=arguments, prog_name="example-sanity", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        from example_sanity.delivery import silence

        silence()  # the reader went away (a pager, head); what it wanted it has
        return ExitCode.CLEAN
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("Internal error: please report the lines above.", err=True)
        return ExitCode.INTERNAL
    return int(code or 0)
