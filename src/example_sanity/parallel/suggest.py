"""The smallest change that makes a mesh legal: one size first, then up to four times the GPUs, then two sizes.

What has its repair outside the mesh, such as a batch that does not divide, gets the nearest number that does.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import TYPE_CHECKING

from example_sanity.parallel.constraint import Suggestion, stops
from example_sanity.parallel.formula import formula
from example_sanity.parallel.mesh import NOTHING, Mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from example_sanity.parallel.constraint import Constraint
    from example_sanity.parallel.mesh import Backend, Sizes

Change = tuple[str, "int | None"]

# Among changes of the same ratio: what costs the user least comes first. Context and expert parallel leave the
# model's split as it is, and many models allow only one tp.
CHEAPEST_FIRST = ("shards", "vpp", "cp", "ep", "pp", "etp", "tp")
# How far from the given number a batch or a length is tried, in steps of one.
REACH = 1024


def suggest(backend: Backend, given: Sizes, facts: Sizes = NOTHING) -> Suggestion | None:
    """Return the smallest legal change of the sizes in ``given``, or None if no change of two sizes helps.

    The size of a change is the product of its ratios (8 to 4 and 4 to 8 are both 2), powers of two before others;
    only divisors of the world are tried, as no other size can be legal. Sizes that follow another one do so here too.
    """
    return Search(Mesh(backend, given, {}, facts)).whole


class Search:
    """The repairs of one mesh. They are legal for everything that is known of the launch, if any such change exists."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh, self._backend, self._given = mesh, mesh.backend, mesh.given
        self._before = {rule.id for rule in self._broken(mesh.given, mesh.facts)}

    def repair(self, rule: Constraint) -> Suggestion | None:
        """Return the smallest change that makes all legal, else one that repairs ``rule`` and breaks nothing new."""
        nearest = self._nearest(rule)
        if nearest is not None:
            return nearest
        if stops([rule]) and self.whole is not None:
            return self.whole
        return self._smallest(lambda broken: self._better(broken, rule))

    @cached_property
    def whole(self) -> Suggestion | None:
        """The smallest change of sizes that makes the mesh legal."""
        return self._smallest(lambda broken: not stops(broken))

    def _smallest(self, enough: Callable[[list[Constraint]], bool]) -> Suggestion | None:
        if self._given.get("world", 1) < 1:
            return None
        for changes in self._candidates():
            for change in changes:
                given = self._changed(change)
                if enough(self._broken(given, self._mesh.facts)):
                    derived = self._backend.derived(self._backend.complete(given, self._mesh.unknown))
                    return Suggestion(change, derived)
        return None

    def _nearest(self, rule: Constraint) -> Suggestion | None:
        """The nearest number outside the mesh that repairs a constraint."""
        options = [
            (abs(size - start), order, symbol, size)
            for order, (symbol, start) in enumerate(self._starts(rule))
            for size in self._near(symbol, start, rule)
        ]
        if not options:
            return None
        _, _, symbol, size = min(options)
        name = self._mesh.key(symbol) or symbol
        return Suggestion(((symbol, size),), {}, {symbol: name.rpartition(".")[2]})

    def _starts(self, rule: Constraint) -> Iterator[tuple[str, int]]:
        """The symbols to adjust, each with the number to start from: its own, or what the constraint says after @."""
        values = self._mesh.values
        for text in rule.adjust:
            symbol, _, start = text.partition("@")
            if symbol in values and all(need in values for need in formula(start or symbol).symbols):
                yield symbol, formula(start or symbol).value(values)

    def _near(self, symbol: str, start: int, rule: Constraint) -> Iterator[int]:
        """The nearest numbers at or below and above ``start`` that repair the constraint, all else unchanged."""
        for step in (-1, 1):
            for size in range(start, start + step * (REACH + 1), step):
                if size < min(1, start):
                    break
                facts = {**self._mesh.facts, symbol: size}
                values = self._backend.values(self._mesh.sizes, facts, self._mesh.unknown)
                if not rule.broken(values) and self._better(self._broken(self._given, facts), rule):
                    yield size
                    break

    def _better(self, broken: list[Constraint], rule: Constraint) -> bool:
        after = {one.id for one in broken if stops([one])}
        return rule not in broken and after <= self._before

    def _broken(self, given: Sizes, facts: Sizes) -> list[Constraint]:
        sizes = self._backend.complete(given, self._mesh.unknown)
        return self._backend.violated(sizes, facts, self._mesh.unknown)

    def _candidates(self) -> Iterator[list[tuple[Change, ...]]]:
        options = self._options()
        yield _sorted([(change,) for change in options], self._given)
        worlds = list(self._worlds())
        yield [change for change in worlds if (change[0][1] or 0) <= 4 * self._given.get("world", 1)]
        pairs = itertools.combinations(options, 2)
        yield _sorted([pair for pair in pairs if pair[0][0] != pair[1][0]], self._given)
        yield worlds

    def _options(self) -> list[Change]:
        options: list[Change] = []
        for key in sorted(self._backend.keys, key=lambda key: _rank(key.symbol)):
            if key.symbol in self._mesh.unknown or (key.default is None and key.symbol not in self._given):
                continue
            options += [(key.symbol, size) for size in self._sizes if size != self._given.get(key.symbol)]
            if key.default is None:
                options.append((key.symbol, None))
        return options

    @cached_property
    def _sizes(self) -> list[int]:
        """What a size can be: a divisor of the world, or a power of two up to the largest size where none is known."""
        world = self._given.get("world")
        if world is not None:
            return [size for size in range(1, world + 1) if world % size == 0]
        largest = max((self._mesh.sizes.get(key.symbol, 1) for key in self._backend.keys), default=1)
        return [size for size in range(1, largest + 1) if power_of_two(size)]

    def _changed(self, change: tuple[Change, ...]) -> Sizes:
        sizes = {**self._given, **{symbol: size for symbol, size in change if size is not None}}
        for symbol, size in change:
            if size is None:
                del sizes[symbol]
        return sizes

    def _worlds(self) -> Iterator[tuple[Change, ...]]:
        sizes, splits = self._mesh.sizes, self._backend.splits
        if splits and all(split.known(sizes) and split.positive(sizes) for split in splits):
            step = math.lcm(self._given.get("gpn", 1), *(split.size(sizes) for split in splits))
            yield (("world", -(-self._given["world"] // step) * step),)


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
