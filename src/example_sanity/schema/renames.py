"""What became of names that a commit or release took away, guessed from those that it brought."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIMILAR, _SIMILAR_WORD = 75, 50
_NEGATIONS = frozenset({"no", "not", "disable", "without"})


class Removed(msgspec.Struct, array_like=True, frozen=True):
    """What became of a key or flag: its new name (None: nothing replaced it), and the commit that took it away.

    ``release`` is the first release without it, empty where there is none yet; ``date`` that of the commit.
    """

    name: str | None
    commit: str = ""
    release: str = ""
    date: str = ""

    def __str__(self) -> str:
        """Return when it was, as messages say it."""
        if self.release:
            return f"{self.release} (commit {self.commit})" if self.commit else self.release
        return f"commit {self.commit} ({self.date})"


def fate(key: str, removed: Mapping[str, Removed], *, own: bool = True) -> Removed | None:
    """Return what became of a key, or of the node around it: then its new name lies below that of the node."""
    if own and key in removed:
        return removed[key]
    parts = key.split(".")
    for count in range(len(parts) - 1, 0, -1):
        node = removed.get(".".join(parts[:count]))
        if node is not None:
            name = None if node.name is None else ".".join([node.name, *parts[count:]])
            return msgspec.structs.replace(node, name=name)
    return None


def successor(key: str, value: object, fresh: Mapping[str, object]) -> str | None:
    """Return the dotted key that replaced ``key``: the same last name elsewhere, else a similar one in the same place.

    ``fresh`` are the new keys with their values; ``value`` is that of the old one. Where several places are equally near
    there is no answer; of several names in one place one of the same value is taken, then the most similar.
    """
    parts = key.split(".")
    moved = sorted(
        (_nearness(parts, item.split(".")), item)
        for item in fresh
        if item.split(".")[-1] == parts[-1] and _is_plausible(parts, item.split("."), fresh)
    )
    if moved:
        return None if len(moved) > 1 and moved[-2][0] == moved[-1][0] else moved[-1][1]
    beside = [item for item in fresh if item.split(".")[:-1] == parts[:-1]]
    return most_similar(parts[-1], {item: item.split(".")[-1] for item in beside}, value, fresh)


def most_similar(
    name: str, candidates: Mapping[str, str], value: object, values: Mapping[str, object]
) -> str | None:
    """Return the candidate whose name (the value of the mapping) is most like ``name``, those of the same value first."""
    from rapidfuzz import fuzz

    alike = [
        (values[item] == value, fuzz.ratio(name, other), item)
        for item, other in candidates.items()
        if is_similar(name, other)
    ]
    return max(alike)[2] if alike else None


def _nearness(one: list[str], other: list[str]) -> tuple[int, int]:
    """Return how many names two paths share from their end, and from their start."""
    return _common(one[::-1], other[::-1]), _common(one, other)


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _is_plausible(one: list[str], other: list[str], fresh: Mapping[str, object]) -> bool:
    """Whether a name went from one place to the other: deeper, higher, with its folder, or into a place that is new."""
    ours, theirs = set(one[:-1]), set(other[:-1])
    if ours <= theirs or theirs <= ours or _common(one[::-1], other[::-1]) > 1:
        return True
    shared = _common(one, other)
    # What goes to a neighbour that was there before has nothing to do with it.
    return shared > 0 and ".".join(other[: shared + 1]) in fresh


def is_similar(one: str, other: str) -> bool:
    """Return whether two names are alike.

    Of several words: the one has a word more, or one word of them is another. Of one word: most letters are the same. A
    negation is no renaming.
    """
    from rapidfuzz import fuzz

    ours, theirs = ({*re.split(r"[_-]+", name.strip("-"))} for name in (one, other))
    if (ours ^ theirs) & _NEGATIONS:
        return False
    if min(len(ours), len(theirs)) == 1:
        return fuzz.ratio(one, other) >= _SIMILAR
    if ours <= theirs or theirs <= ours:
        return True
    gone, fresh, kept = ours - theirs, theirs - ours, ours & theirs
    replaced = len(gone) == len(fresh) == 1
    return replaced and (len(kept) > 2 or fuzz.ratio(*gone, *fresh) >= _SIMILAR_WORD)
