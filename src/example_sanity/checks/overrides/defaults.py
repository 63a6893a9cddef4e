"""What each setting of an entry would be if the launcher left it out, and where that default is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.overrides.flat import Check
from example_sanity.checks.overrides.resolving import resolver
from example_sanity.launch.settings import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry
    from example_sanity.launch.syntax import Script
    from example_sanity.schema.hydra.model import Leaf


def defaults(entry: Entry, script: Script, context: Context) -> Mapping[str, Leaf]:
    """Return every key of the configuration that the entry composes; none where that is not known."""
    given = settings(entry)
    tree = resolver(context).resolve(entry, given).tree
    if tree is None:
        return {}
    composition = Check(tree, given.items, script).composition()
    return composition.keys if composition else {}
