"""The assignments that the guard prover tries: all single and double changes of the defaults, then a spread of more."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from example_sanity.parallel.suggest import power_of_two

if TYPE_CHECKING:
    from collections.abc import Mapping

Assignment = dict[str, int]


@dataclass(frozen=True)
class Grid:
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
            if room := limit - len(assignments):
                assignments += sorted(_layer(defaults, changed, room), key=_plainness)
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


def _layer(defaults: Mapping[str, int], changed: int, room: int) -> list[Assignment]:
    others = {knob: [size for size in sizes_around(old) if size != old] for knob, old in defaults.items()}
    groups = list(itertools.combinations(defaults, changed))
    total = sum(math.prod(len(others[knob]) for knob in knobs) for knobs in groups)
    # A stride without a factor in common with the numbers of sizes does not meet the same sizes again and again.
    lengths = math.prod(len(sizes) for sizes in others.values())
    stride = next(n for n in itertools.count(-(-total // room)) if n == 1 or math.gcd(n, lengths) == 1)
    cells = (
        (knobs, sizes) for knobs in groups for sizes in itertools.product(*(others[knob] for knob in knobs))
    )
    picked = itertools.islice(cells, 0, None, stride)
    return [{**defaults, **dict(zip(knobs, sizes, strict=True))} for knobs, sizes in picked]


def _plainness(assignment: Mapping[str, int]) -> tuple[int, int, tuple[int, ...]]:
    sizes = tuple(assignment.values())
    return sum(not power_of_two(size) for size in sizes), sum(sizes), sizes
