"""The commands ``schema …``: what they are called with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from example_sanity.core.errors import ExitCode
from example_sanity.options import CONTEXT


@click.group(context_settings=CONTEXT, short_help="JSON schemas, and schemas of Hydra programs.")
def schema() -> None:
    """Print a JSON schema, or build the schema of a Hydra program."""


def _print_schema(name: str, text: str) -> click.Command:
    @click.command(name, context_settings=CONTEXT, help=text)
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


@schema.command(context_settings=CONTEXT)
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


@schema.command(context_settings=CONTEXT)
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


@schema.command("flag-history", context_settings=CONTEXT)
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
