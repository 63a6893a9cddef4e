"""The assignments that the guard prover tries: all single and double changes of the defaults, then a spread of more."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import msgspec

from example_sanity.parallel.suggest import power_of_two

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Assignment = dict[str, int]


class Grid(msgspec.Struct, frozen=True):
    """Assignments of sizes to knobs, nearest to the defaults first."""

    defaults: Mapping[str, int]
    assignments: tuple[Assignment, ...]

    @classmethod
    def around(cls, defaults: Mapping[str, int], limit: int = 3000) -> Grid:
        """Make the default grid: at most ``limit`` assignments, fewest changed knobs first, the same every time.

        A number of changes that does not fit as a whole is sampled evenly. Within one number of changes, powers of
        two come before other sizes (nobody runs cp = 3 by choice), then small numbers before large ones.
        """
        assignments: list[Assignment] = []
        for changed in range(len(defaults) + 1):
            stride = _stride(defaults, changed, limit - len(assignments))
            layer = itertools.islice(_layer(defaults, changed), 0, None, stride)
            assignments += sorted(layer, key=_plainness)
            if stride > 1 or len(assignments) == limit:
                break
        return cls(defaults, tuple(assignments))

    def changes(self, assignment: Mapping[str, int]) -> Assignment:
        """Return the knobs of ``assignment`` that differ from the defaults."""
        return {knob: size for knob, size in assignment.items() if size != self.defaults[knob]}


def sizes_around(default: int) -> list[int]:
    """Return the sizes to try for a knob: small ones, and those within a factor of eight above its default.

    Around 8 these are 1 2 3 4 6 8 16 24 32 64; a few are no powers of two, as a guard may fail only there.
    """
    near = {default // 4, default // 2, default * 3 // 4, *(default * factor for factor in (1, 2, 3, 4, 8))}
    return sorted({1, 2, 3, 4, 6, 8, 16, *near} - {0})


def _others(default: int) -> list[int]:
    return [size for size in sizes_around(default) if size != default]


def _layer(defaults: Mapping[str, int], changed: int) -> Iterator[Assignment]:
    for knobs in itertools.combinations(defaults, changed):
        for sizes in itertools.product(*(_others(defaults[knob]) for knob in knobs)):
            yield {**defaults, **dict(zip(knobs, sizes, strict=True))}


def _stride(defaults: Mapping[str, int], changed: int, room: int) -> int:
    counts = [len(_others(default)) for default in defaults.values()]
    total = sum(math.prod(some) for some in itertools.combinations(counts, changed))
    if total <= room:
        return 1
    # A stride without a factor in common with the numbers of sizes does not meet the same sizes again and again.
    return next(n for n in itertools.count(-(-total // room)) if math.gcd(n, math.prod(counts)) == 1)


def _plainness(assignment: Mapping[str, int]) -> tuple[int, int, tuple[int, ...]]:
    sizes = tuple(assignment.values())
    return sum(not power_of_two(size) for size in sizes), sum(sizes), sizes
