"""The command ``schema build``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import click

from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.files import write_atomically
from example_sanity.schema.hydra import shipped

if TYPE_CHECKING:
    from collections.abc import Sequence


def build(  # noqa: PLR0913  # the options of the command, by keyword
    *,
    name: str,
    roots: Sequence[Path],
    packages: Sequence[str],
    searchpath: Sequence[str],
    earlier: Sequence[str],
    output: Path | None,
    further: Sequence[str],
    **about: object,
) -> int:
    """Build a schema and write it. Raises UsageError for what is not there."""
    if importlib.util.find_spec("hydra") is None:
        raise UsageError("Hydra composes the configurations: pip install 'example-sanity[hydra]'")
    from example_sanity.schema.hydra.build import Builder

    for root in roots:
        if not root.is_dir():
            raise UsageError(f"no such folder: {root}")
    source = shipped.Source(
        name=name,
        url=str(about["url"]),
        commit=str(about["commit"]),
        licence=str(about["licence"]),
        rank=int(str(about["rank"])),
        further=tuple(further),
    )
    try:
        before = [shipped.load(item) for item in earlier]
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read an earlier schema: {error}") from error
    builder = Builder(roots, packages, [f"pkg://{item.removeprefix('pkg://')}" for item in searchpath])
    schema = builder.build(source, before)
    if not schema.forests:
        raise UsageError(
            f"no Hydra program in {', '.join(packages)}: nothing there is decorated with hydra.main"
        )
    path = output or Path(f"{name}{shipped.SUFFIX}")
    data = shipped.encode(schema)
    try:
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    keys = len({key for forest in schema.forests for key in shipped.members(shipped.grown(schema, forest))})
    click.echo(
        f"{path}: {len(schema.entries)} programs, {len(schema.forests)} configurations, {keys} keys, {len(data)} bytes"
    )
    return ExitCode.CLEAN
