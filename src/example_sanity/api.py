"""What other Python code may call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from example_sanity import session

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from example_sanity.core.runner import Report


def check(  # noqa: PLR0913  # the options of the command, by keyword
    *paths: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    preset: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    allow_local_rules: bool = False,
) -> Report:
    """Run the enabled rules over ``paths`` (default: the whole project of the current folder) and return the report.

    The options are those of ``example-sanity check``; ``environment`` is what launchers are evaluated with. Raises
    ``example_sanity.UsageError`` for what ends the command with exit code 2.
    """
    named = [Path(path) for path in paths]
    run = session.open_run(
        named,
        root=Path(root) if root is not None else None,
        config=Path(config) if config is not None else None,
        preset=preset,
        environment=environment,
        allow_local_rules=allow_local_rules,
    )
    run.registry.resolve_all(select, "select")
    run.registry.resolve_all(ignore, "ignore")
    run.config = msgspec.structs.replace(
        run.config, select=tuple(select) or run.config.select, ignore=(*run.config.ignore, *ignore)
    )
    return run.check(run.registry.families, named)
