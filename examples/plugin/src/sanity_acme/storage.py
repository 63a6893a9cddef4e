"""ACM: where a launch writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from example_sanity import Example, Rule, Subject
from example_sanity.launch.settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity import Finding
    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Launch


class StorageOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.storage]``: ``folders`` that vanish with the node."""

    folders: tuple[str, ...] = ("/tmp",)


class CheckpointInTmp(Rule):
    """A launch saves its checkpoints in a folder that vanishes with the node.

    Point the setting at storage that every node sees.
    """

    code = "ACM001"
    name = "checkpoint-in-tmp"
    summary = "checkpoints go to a folder that vanishes with the node"
    subject = Subject.LAUNCH
    bad = (Example("DIR=${DIR:-/tmp/run}\npython3 train.py --save-dir $DIR\n"),)
    good = (Example("DIR=${DIR:-/data/run}\npython3 train.py --save-dir $DIR\n"),)

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look at the value that each program really gets, whatever variables it went through."""
        launch = cast("Launch", subject)
        folders = context.options("storage", StorageOptions).folders
        for entry in launch.entries:
            found = settings(entry).get("save-dir")
            if found and found.stable and found.raw.startswith(tuple(f"{folder}/" for folder in folders)):
                yield self.finding(
                    found.origin.path,
                    found.origin.span,
                    f"checkpoints go to {found.raw}, which vanishes with the node; name a shared folder",
                    scenarios=(launch.scenario.name,),
                )


RULES = (CheckpointInTmp,)
