"""Requirements that contradict each other: two places of a repository that no version can satisfy."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from example_sanity.doctor.asked import Asked
from example_sanity.doctor.environment import Environment
from example_sanity.doctor.findings import Kind, Statement, Verdict, mismatch, note
from example_sanity.doctor.sources import Sources
from example_sanity.doctor.versions import applies
from example_sanity.doctor.windows import common, shown


def conflicts(sources: Sources, environment: Environment) -> Verdict:
    """Return what contradicts each other, with as few statements as cover all pairs of disjoint windows.

    It is a mismatch where both hold together: the environment is held to both, or one is an extra of the package that
    the other belongs to. It is a note where they may: a further requirements file is often installed on top, uv may
    override both (``override-dependencies``), and setup.py may be read where pyproject.toml is not. Images, several
    set-ups in one file, and extras among themselves are alternatives, and no conflict.
    """
    grouped: dict[str, list[Asked]] = {}
    for item in sources.asked:
        if item.window and applies(item, environment):
            grouped.setdefault(item.name, []).append(item)
    total = Verdict()
    for name in sorted(grouped):
        both = {pair: _together(*pair) for pair in combinations(grouped[name], 2)}
        pairs = [pair for pair, together in both.items() if together is not None and _disjoint(*pair)]
        certain = [pair for pair in pairs if both[pair] and name not in sources.overrides]
        possible = [pair for pair in pairs if pair not in certain]
        total += mismatch(*_cover(name, certain)) + note(*_cover(name, possible))
    return total


def _disjoint(first: Asked, second: Asked) -> bool:
    return common(first.window, second.window) is None


def _cover(name: str, pairs: Sequence[tuple[Asked, Asked]]) -> Iterator[Statement]:
    """Yield statements of one place against all that contradict it, the place with the most of them first."""
    left = list(pairs)
    while left:
        counts = Counter(item for pair in left for item in pair)
        against = max(counts, key=lambda item: counts[item])
        others = [
            second if first == against else first for first, second in left if against in (first, second)
        ]
        yield _statement(name, against, others)
        left = [pair for pair in left if against not in pair]


def _together(first: Asked, second: Asked) -> bool | None:
    """Whether two requirements hold together (True), may do so (False), or are alternatives (None)."""
    kinds = {first.kind, second.kind}
    if "overridden" in kinds:
        return False if _same_part(first, second) else None
    if "image" in kinds or (first.source == second.source and "header" in kinds):
        return None
    base, other = (first, second) if first.held else (second, first)
    if other.kind == "extra" and not other.held:
        return (base.place.path == other.place.path and base.kind != "extra") or None
    if base.held and other.kind in {"requirements", "constraints"}:
        return other.held
    return (first.held and second.held) or None


def _same_part(first: Asked, second: Asked) -> bool:
    """Whether one is what pyproject.toml says in place of the other: both dependencies, or of the same extra."""
    stated, other = (first, second) if second.kind == "overridden" else (second, first)
    if posixpath.dirname(stated.place.path) != posixpath.dirname(other.place.path):
        return False
    of_base = other.source == other.place.path
    return stated.kind == "pyproject" if of_base else stated.kind == "extra" and stated.source == other.source


def _statement(name: str, against: Asked, others: Sequence[Asked]) -> Statement:
    windows: dict[str, list[str]] = {}
    for item in others:
        windows.setdefault(shown(item.window), []).append(_called(item))
    rest = ", and ".join(f"{', '.join(places)} for {window}" for window, places in windows.items())
    words = f"{name}: {_called(against)} asks for {shown(against.window)}, {rest}: no version fits both"
    return Statement(Kind.CONFLICT, name, words, tuple(item.place for item in (against, *others)))


def _called(item: Asked) -> str:
    if item.kind == "overridden":
        return f"{item.place} (overridden by pyproject.toml)"
    return f"{item.place} ({item.kind} {item.source})" if item.kind in {"extra", "group"} else str(item.place)
