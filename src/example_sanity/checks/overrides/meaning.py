"""Which key was probably meant by one that does not exist, or that should no longer be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.errors import nearest
from example_sanity.schema.renames import is_similar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.checks.overrides.state import State


def meant_field(key: str, node: str, state: State) -> str | None:
    """Return the key that was probably meant instead of a field that does not exist."""
    elsewhere = _same_leaf(key, [item for item in state.keys if item not in state.added])
    if elsewhere:
        return elsewhere
    near = nearest(key.rpartition(".")[2], state.closed[node], 75)
    return f"{node}.{near}" if near else None


def replacement(key: str, keys: Iterable[str]) -> str | None:
    """Return the only key of the same name below the node that holds a key: what a deprecated one gave way to."""
    parent, _, name = key.rpartition(".")
    found = [
        item
        for item in keys
        if item.startswith(f"{parent}.") and item.rpartition(".")[2] == name and item != key
    ]
    return found[0] if len(found) == 1 else None


def nearest_key(key: str, keys: Iterable[str]) -> str | None:
    """Return the key that was probably meant: the same name elsewhere, else the most similar one.

    Another part of the configuration has settings of its own: only a name without its path is looked for in all of it.
    """
    top = key.partition(".")[0]
    known = [item for item in keys if "." not in key or item.partition(".")[0] == top]
    elsewhere = _same_leaf(key, known)
    if elsewhere:
        return elsewhere
    parent, _, name = key.rpartition(".")
    siblings = [item for item in known if item.rpartition(".")[0] == parent]
    near = nearest(name, [leaf for item in siblings if is_similar(name, leaf := item.rpartition(".")[2])], 75)
    if near:
        return f"{parent}.{near}" if parent else near
    return nearest(key, [item for item in known if is_similar(name, item.rpartition(".")[2])], 85)


def _same_leaf(key: str, keys: Iterable[str]) -> str | None:
    """Return the key of the same last name that lies nearest, unless several lie equally near."""
    from rapidfuzz import fuzz

    parts = key.split(".")
    found = [item for item in keys if item.rpartition(".")[2] == parts[-1] and item != key]
    ranked = sorted(found, key=lambda item: (-_shared(parts, item.split(".")), -fuzz.ratio(key, item), item))
    only = len(parts) == len(ranked) == 1  # a name without its path, of which there is one
    return ranked[0] if ranked and (only or _shared(parts, ranked[0].split("."))) else None


def _shared(one: list[str], other: list[str]) -> int:
    return len(set(one[:-1]) & set(other[:-1]))
