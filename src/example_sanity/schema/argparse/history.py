"""What became of flags that a program had once: its parsers read at one release after the other."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from example_sanity.schema.argparse.reading import read_table
from example_sanity.schema.pinned import tree_at
from example_sanity.schema.renames import Removed, most_similar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.schema.argparse.table import Flag, FlagTable
    from example_sanity.schema.objects import Repository

FOLDER = Path(__file__).resolve().parents[2] / "schemas" / "flags"
SUFFIX = ".flags.json"


class FlagHistory(msgspec.Struct):
    """The flags that a program has no more. ``top`` is the folder that defines most of its flags.

    ``commits`` maps the releases that were compared to their commits, oldest first.
    """

    name: str
    url: str
    licence: str
    program: str
    top: str
    commits: dict[str, str]
    removed: dict[str, Removed]


def removed(
    repository: Repository, program: str, commits: Mapping[str, str], below: Sequence[str]
) -> tuple[dict[str, Removed], FlagTable | None]:
    """Return what became of each flag that the last of ``commits`` has not, and the flags that this has.

    ``commits`` maps names to commits, oldest first. A release whose flags are not all read is passed over: what is not
    seen there is not gone.
    """
    before: dict[str, Flag] = {}
    gone: dict[str, Removed] = {}
    last = None
    for name, commit in commits.items():
        folder = tree_at(repository, commit, *below)
        table = read_table(folder / program, folder, [folder])
        if table is None or table.unresolved:
            continue
        last, after = table, {flag: definitions[0] for flag, definitions in table.known.items()}
        fresh = {flag: _value(definition) for flag, definition in after.items() if flag not in before}
        for flag in sorted(before.keys() - after.keys()):
            candidates = {item: item for item in fresh if _may_replace(flag, before[flag], item, after[item])}
            successor = most_similar(flag, candidates, _value(before[flag]), fresh)
            gone[flag] = Removed(successor, release=name)
        before = after
    return _followed(gone, before), last


def _may_replace(name: str, flag: Flag, other: str, definition: Flag) -> bool:
    """Whether a flag takes as many values as another. A switch by another word may mean the opposite."""
    ours, theirs = (set(re.split(r"[-_]+", item.strip("-"))) for item in (name, other))
    return flag.nargs == definition.nargs and (flag.nargs != 0 or ours <= theirs or theirs <= ours)


def _value(flag: Flag) -> object:
    return flag.action, flag.nargs, flag.type, flag.default


def _followed(gone: Mapping[str, Removed], now: Mapping[str, Flag]) -> dict[str, Removed]:
    """Return those that are gone today, each with its name of today."""
    found = {}
    for flag, item in gone.items():
        name, seen = item.name, {flag}
        while name is not None and name not in now and name in gone and name not in seen:
            seen.add(name)
            name = gone[name].name
        if flag not in now:
            found[flag] = msgspec.structs.replace(item, name=name if name in now else None)
    return dict(sorted(found.items()))


def decode(data: bytes) -> FlagHistory:
    """Return what ``schema flag-history`` wrote. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(data, type=FlagHistory)


@lru_cache(maxsize=1)
def shipped() -> tuple[FlagHistory, ...]:
    """Return the histories that come with the tool."""
    return tuple(decode(path.read_bytes()) for path in sorted(FOLDER.glob(f"*{SUFFIX}")))


def fate(flag: str, table: FlagTable) -> Removed | None:
    """Return what became of a flag of a program with these flags: of one whose flags come from the same package."""
    tops = {path.partition("/")[0] for item in table.flags if (path := item.path)}
    for history in shipped():
        if history.top in tops and flag in history.removed:
            return history.removed[flag]
    return None
