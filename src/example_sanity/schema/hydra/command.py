"""The commands ``schema build`` and ``schema history``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

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
    builder = Builder(roots, packages, [f"pkg://{item.removeprefix('pkg://')}" for item in searchpath])
    schema = builder.build(source)
    if not schema.forests:
        raise UsageError(
            f"no Hydra program in {', '.join(packages)}: nothing there is decorated with hydra.main"
        )
    path = output or Path(f"{name}{shipped.SUFFIX}")
    size = _write(path, schema)
    keys = len({key for forest in schema.forests for key in shipped.members(shipped.grown(schema, forest))})
    click.echo(
        f"{path}: {len(schema.entries)} programs, {len(schema.forests)} configurations, {keys} keys, {size} bytes"
    )
    return ExitCode.CLEAN


def history(name: str, checkout: Path, output: Path | None) -> int:
    """Add what became of earlier keys to a schema, and write it. Raises UsageError for what is not there."""
    from example_sanity.schema.hydra.history import removed
    from example_sanity.schema.objects import Repository

    try:
        schema = shipped.load(name)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the schema {name}: {error}") from error
    repository = Repository(checkout)
    if not checkout.is_dir() or not repository.commit(schema.source.commit):
        raise UsageError(f"{checkout} is no git checkout that has commit {schema.source.commit}")
    found = removed(schema, repository)
    path = output or shipped.file_of(name)
    size = _write(path, msgspec.structs.replace(schema, removed=found))
    renamed = sum(item.name is not None for item in found.values())
    click.echo(f"{path}: {renamed} keys renamed, {len(found) - renamed} removed, {size} bytes")
    return ExitCode.CLEAN


def _write(path: Path, schema: shipped.Schema) -> int:
    data = shipped.encode(schema)
    try:
        write_atomically(path, data)
        if path.resolve().parent == shipped.FOLDER:
            write_atomically(shipped.INDEX, shipped.indexed())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return len(data)
