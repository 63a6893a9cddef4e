"""The smallest change that makes a mesh legal: one size first, then up to four times the GPUs, then two sizes."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from example_sanity.parallel.mesh import Suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.parallel.mesh import Backend, Sizes

Change = tuple[str, "int | None"]

# Among changes of the same ratio: what costs the user least comes first. Context and expert parallel leave the
# model's split as it is, and many models allow only one tp.
CHEAPEST_FIRST = ("vpp", "cp", "ep", "pp", "etp", "tp")


def suggest(backend: Backend, given: Sizes) -> Suggestion | None:
    """Return the smallest legal change of the sizes in ``given``, or None if no change of two sizes helps.

    The size of a change is the product of its ratios (8 to 4 and 4 to 8 are both 2), powers of two before others;
    only divisors of the world are tried, as no other size can be legal. Sizes that follow another one do so here too.
    """
    if given["world"] < 1:
        return None
    options = _options(backend, given)
    singles = [(change,) for change in options]
    pairs = [pair for pair in itertools.combinations(options, 2) if pair[0][0] != pair[1][0]]
    worlds = list(_worlds(backend, given))
    near = [change for change in worlds if (change[0][1] or 0) <= 4 * given["world"]]
    for changes in (_sorted(singles, given), near, _sorted(pairs, given), worlds):
        for change in changes:
            if (found := _legal(backend, given, change)) is not None:
                return Suggestion(change, backend.derived(found))
    return None


def _options(backend: Backend, given: Sizes) -> list[Change]:
    divisors = [size for size in range(1, given["world"] + 1) if given["world"] % size == 0]
    options: list[Change] = []
    for key in sorted(backend.keys, key=lambda key: _rank(key.symbol)):
        if key.default is None and key.symbol not in given:
            continue
        options += [(key.symbol, size) for size in divisors if size != given.get(key.symbol)]
        if key.default is None:
            options.append((key.symbol, None))
    return options


def _legal(backend: Backend, given: Sizes, change: tuple[Change, ...]) -> Sizes | None:
    changed = {**given, **{symbol: size for symbol, size in change if size is not None}}
    for symbol, size in change:
        if size is None:
            del changed[symbol]
    sizes = backend.complete(changed)
    return None if backend.violated(sizes) else sizes


def _worlds(backend: Backend, given: Sizes) -> Iterator[tuple[Change, ...]]:
    sizes = backend.complete(given)
    if all(split.positive(sizes) for split in backend.splits):
        step = math.lcm(given.get("gpn", 1), *(split.size(sizes) for split in backend.splits))
        yield (("world", -(-given["world"] // step) * step),)


def _sorted(changes: Iterable[tuple[Change, ...]], given: Sizes) -> list[tuple[Change, ...]]:
    def cost(change: tuple[Change, ...]) -> tuple[int, float, list[int], list[int]]:
        # A size that nobody set counts as 1 even where it follows another one: to set it is the natural repair.
        ratios = [_ratio(given.get(symbol, 1), size or 1) for symbol, size in change]
        odd = sum(not power_of_two(size or 1) for _, size in change)
        return (
            odd,
            math.prod(ratios),
            [_rank(symbol) for symbol, _ in change],
            [size or 0 for _, size in change],
        )

    return sorted(changes, key=cost)


def power_of_two(size: int) -> bool:
    """Whether ``size`` is 1, 2, 4, 8 and so on: the sizes that people use, and that heads and experts divide by."""
    return size > 0 and size & (size - 1) == 0


def _ratio(old: int, new: int) -> float:
    return max(new, old) / max(1, min(new, old))


def _rank(symbol: str) -> int:
    return CHEAPEST_FIRST.index(symbol) if symbol in CHEAPEST_FIRST else len(CHEAPEST_FIRST)
