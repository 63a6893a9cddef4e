"""The command line. Every command is thin: it opens a session, does one thing, and returns an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from example_sanity.checks import FAMILIES
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.options import check_options, project_options, smoke_options
from example_sanity.report import FORMATS

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
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


class Group(click.Group):
    """A group that suggests the nearest command, and knows the rule families of plugins as commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, and those that have no section last."""
        grouped = {name for names in _SECTIONS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in grouped)
        for title, names in {**_SECTIONS, "Other commands": others}.items():
            rows = [(name, self.commands[name].get_short_help_str(formatter.width)) for name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; plugins are only looked for where it is none of ours."""
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


@click.group(cls=Group, context_settings=_HELP, epilog=_EXIT_CODES)
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
    @click.command(name, context_settings=_HELP, help=text, short_help=short, epilog=_EXIT_CODES)
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


def _family_command(name: str, title: str) -> click.Command:
    text = f"Run the rule family {name!r} over PATHS (default: the whole project).\n\nIt is about {title}."
    return _make_check(name, name, f"{title[0].upper()}{title[1:]}.", text)


for _family, (_, _title) in FAMILIES.items():
    cli.add_command(_family_command(_family, _title))


@cli.command(context_settings=_HELP, short_help="Title and text of a pull request.", epilog=_EXIT_CODES)
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


@cli.command(context_settings=_HELP, short_help="What a rule finds, why, and how to fix it.")
@click.argument("rule")
def explain(rule: str) -> int:
    """Say what RULE (a code or a name) finds, why, and how to fix it."""
    from example_sanity import session

    return session.explain(rule)


@cli.command(context_settings=_HELP, short_help="All rules, those of plugins included.")
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


@cli.group(context_settings=_HELP, short_help="JSON schemas, and schemas of Hydra programs.")
def schema() -> None:
    """Print a JSON schema, or build the schema of a Hydra program."""


def _print_schema(name: str, text: str) -> click.Command:
    @click.command(name, context_settings=_HELP, help=text)
    def command() -> int:
        from example_sanity import schemas

        click.echo(schemas.text(name), nl=False)
        return ExitCode.CLEAN

    return command


schema.add_command(
    _print_schema("config", "Print the JSON schema of the configuration, tables of plugins included.")
)
schema.add_command(_print_schema("report", "Print the JSON schema of the JSON report."))
schema.add_command(_print_schema("smoke", "Print the JSON schema of the JSON report of smoke runs."))


@schema.command(context_settings=_HELP)
@click.argument("name")
@click.option(
    "--root",
    "roots",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Folder that holds packages (repeatable).",
)
@click.option("--package", "packages", multiple=True, required=True, help="Package to read (repeatable).")
@click.option("--searchpath", multiple=True, metavar="PKG", help="Lay pkg://PKG behind each configuration.")
@click.option("--url", default="", help="Where the source is from.")
@click.option("--commit", default="", help="Its commit.")
@click.option("--licence", default="", help="Its licence (SPDX).")
@click.option("--notice", "further", multiple=True, help="A line on further sources (repeatable).")
@click.option("--rank", default=0, help="Of several schemas with a module the highest rank counts.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write (default: NAME.json.xz)."
)
def build(**options: Any) -> int:
    """Compose every Hydra configuration of some packages and write the result as schema NAME.

    Keys, types, defaults and choices are kept, for use as ``schema`` in ``[tool.example-sanity.overrides]`` where the source
    is not at hand. Files are read, nothing is imported. Takes the extra ``hydra``, and minutes for a large program.
    """
    from example_sanity.schema.hydra.command import build as run_build

    return run_build(**options)


@schema.command(context_settings=_HELP)
@click.argument("name")
@click.option(
    "--checkout",
    required=True,
    type=click.Path(path_type=Path),
    help="Git checkout that has the commit of the schema and its history.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write (default: the schema's own)."
)
def history(**options: Any) -> int:
    """Add to schema NAME (a shipped one, or a file) what became of the keys that its configuration had once.

    Read are the objects of git: the files of the commits that lead to that of the schema. Nothing is checked out.
    """
    from example_sanity.schema.hydra.command import history as run_history

    return run_history(**options)


@schema.command("flag-history", context_settings=_HELP)
@click.argument("name")
@click.option(
    "--checkout", required=True, type=click.Path(path_type=Path), help="Git checkout of the program."
)
@click.option("--program", required=True, help="The file that reads the flags, relative to the checkout.")
@click.option(
    "--at", "revisions", multiple=True, required=True, help="Release or commit (repeatable, oldest first)."
)
@click.option("--below", multiple=True, help="Read only these files and folders (repeatable).")
@click.option("--url", default="", help="Where the source is from.")
@click.option("--licence", default="", help="Its licence (SPDX).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write (default: NAME.flags.json)."
)
def flag_history(**options: Any) -> int:
    """Read the flags of a program at several releases, and write what became of those that later ones have not.

    Read are the objects of git; nothing is checked out, nothing is imported.
    """
    from example_sanity.schema.argparse.command import flag_history as run_history

    return run_history(**options)


def _make_view(name: str, short: str, text: str, *more: Any) -> click.Command:
    @click.command(name, context_settings=_HELP, help=text, short_help=short)
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
        click.option("--suggest", is_flag=True, help="Show the legal sizes nearest to those of the script."),
        click.option("--gpus", type=click.IntRange(1), help="With --suggest: for this number of GPUs."),
        click.option("--gpus-per-node", type=click.IntRange(1), help="With --suggest: GPUs of a node."),
        click.option("--draw", is_flag=True, help="Show which ranks share a group, as a grid for each axis."),
    )
)


@cli.command(context_settings=_HELP, short_help="What is installed against what a launcher asks for.")
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


def _settings(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise click.BadParameter(f"{name!r} is not NAME=VALUE")
    return {name: value for name, _, value in pairs}


@cli.command(context_settings=_HELP, short_help="Run it for real, scaled down to the GPUs at hand.")
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
    callback=_settings,
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
@smoke_options
@project_options
def smoke(**options: Any) -> int:
    """Run SCRIPT for real, scaled down: a tiny random model of the right family, tiny data, a few optimizer steps.

    Exits 0 when it passed, 1 when it failed, 2 when it is refused, 4 when it could not start.

    What must shrink is set through the launcher's own variables, else behind its arguments; a launcher that lets nothing in
    is refused, with the line. The result is checked by the rules for meshes, batches, overrides and flags before anything starts.
    """
    from example_sanity.smoke import command

    return command.smoke(**options)


@cli.command(context_settings=_HELP, short_help="Which CI job runs which launcher.")
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


@cli.command(context_settings=_HELP, short_help="Accept the findings of today; later, drop what is fixed.")
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


@cli.command(context_settings=_HELP, short_help="Write a configuration after a look at the repository.")
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


@cli.command(context_settings=_HELP, short_help="The completion script of a shell.")
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
