"""The command ``schema flag-history``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.files import write_atomically
from example_sanity.schema.argparse.history import SUFFIX, FlagHistory, removed
from example_sanity.schema.objects import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence


def flag_history(  # noqa: PLR0913  # the options of the command, by keyword
    *,
    name: str,
    checkout: Path,
    program: str,
    revisions: Sequence[str],
    below: Sequence[str],
    output: Path | None,
    **about: object,
) -> int:
    """Write what became of the flags of a program. Raises UsageError for what is not there."""
    repository = Repository(checkout)
    commits = {item: repository.commit(item) if checkout.is_dir() else "" for item in revisions}
    missing = [item for item, commit in commits.items() if not commit]
    if missing:
        raise UsageError(f"{checkout} is no git checkout that has {', '.join(missing)}")
    gone, table = removed(repository, program, commits, below)
    if table is None:
        raise UsageError(
            f"{program} reads no flags at {', '.join(revisions)}, or not all of them can be read"
        )
    tops = Counter(flag.path.partition("/")[0] for flag in table.flags if flag.path)
    found = FlagHistory(
        name, str(about["url"]), str(about["licence"]), program, tops.most_common(1)[0][0], commits, gone
    )
    path = output or Path(f"{name}{SUFFIX}")
    data = msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    try:
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    renamed = sum(item.name is not None for item in gone.values())
    click.echo(
        f"{path}: {renamed} flags renamed, {len(gone) - renamed} removed, {len(table.known)} there, {len(data)} bytes"
    )
    return ExitCode.CLEAN
