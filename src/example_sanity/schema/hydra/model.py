"""The flat form of a configuration: every key with its default, its type and the place that it comes from."""

from __future__ import annotations

from typing import Any

import msgspec


class ComposeError(Exception):
    """Hydra refuses to compose; the text is its reason."""


class AbsentPackageError(ComposeError):
    """Hydra refuses to compose, and ``package`` of the search path is nowhere: what is missing may lie in it."""

    def __init__(self, reason: str, package: str) -> None:
        """Keep Hydra's reason as the text."""
        super().__init__(reason)
        self.package = package


class Leaf(msgspec.Struct, array_like=True, frozen=True):
    """What is known of one key.

    ``value`` is the default as plain data; an interpolation stays text, a dict with members is an empty one. ``kinds``
    are the types that it takes (bool, int, float, str, list, dict, null), none where nothing is known. ``where`` is
    ``path:line``, empty for Hydra's own. ``choices`` are the values that the program accepts, ``note`` why it should
    not be used any more. ``declared`` says that a dataclass, not the YAML, gave the type. ``refused`` are values
    that the program raises on.
    """

    value: Any
    kinds: tuple[str, ...] = ()
    where: str = ""
    choices: tuple[Any, ...] = ()
    note: str = ""
    declared: bool = False
    refused: tuple[Any, ...] = ()


class Composition(msgspec.Struct):
    """A configuration as Hydra composes it from one set of group choices.

    ``keys`` holds every dotted key, those of dicts included. ``groups`` are the entries of the defaults list that the
    command line may override, with the option taken. ``closed`` maps a key whose dict names a dataclass to the names of
    all fields that this takes, none where they are not all known; ``needed`` to those of them that have no default.
    """

    keys: dict[str, Leaf]
    groups: dict[str, Any]
    closed: dict[str, tuple[str, ...]] = {}
    needed: dict[str, tuple[str, ...]] = {}


class Delta(msgspec.Struct):
    """What a group choice changes in a composition."""

    put: Composition
    gone: tuple[str, ...] = ()


def difference(base: Composition, other: Composition) -> Delta:
    """Return what makes ``other`` of ``base``."""
    return Delta(
        Composition(
            {key: leaf for key, leaf in other.keys.items() if base.keys.get(key) != leaf},
            {key: name for key, name in other.groups.items() if base.groups.get(key, "") != name},
            {key: names for key, names in other.closed.items() if base.closed.get(key) != names},
            {key: names for key, names in other.needed.items() if base.needed.get(key) != names},
        ),
        tuple(key for key in base.keys if key not in other.keys),
    )


def changed(base: Composition, delta: Delta) -> Composition:
    """Return ``base`` with the changes made."""
    gone = set(delta.gone)
    keys = {key: leaf for key, leaf in base.keys.items() if key not in gone}
    closed = {key: names for key, names in base.closed.items() if key not in gone}
    # Where a class changed, what the old one needed counts no more.
    needed = {
        key: names for key, names in base.needed.items() if key not in gone and key not in delta.put.closed
    }
    groups = {**base.groups, **delta.put.groups}
    return Composition(keys | delta.put.keys, groups, closed | delta.put.closed, needed | delta.put.needed)
