"""Draws which ranks of a mesh share a group, from the rank order of its backend: as text and as SVG.

Ranks are numbered as the launcher numbers them: node by node, and on each node GPU by GPU.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.parallel.constraint import Sizes, Split
    from example_sanity.parallel.mesh import Mesh

_CELL_WIDTH, _CELL_HEIGHT, _GAP, _TITLE, _LABEL = 22, 14, 28, 20, 34
_ROWS, _WIDEST = 32, 1100


class Axis(msgspec.Struct, frozen=True):
    """The groups of one symbol: each is the ranks that differ only in it, ascending; groups by their first rank."""

    symbol: str
    groups: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Ranks of one group."""
        return len(self.groups[0])


def rank_coordinates(mesh: Mesh) -> tuple[Mapping[str, int], ...]:
    """Return for every rank its coordinate (from 0) along each axis: tp, cp, dp, pp, and those of the experts.

    Raises ValueError for an illegal mesh, which no rank could ever build.
    """
    if not mesh.buildable:
        raise ValueError("an illegal mesh has no ranks to draw")
    sizes = {**mesh.sizes, **mesh.derived}
    return tuple(
        {symbol: place for split in mesh.backend.splits for symbol, place in _place(rank, split, sizes)}
        for rank in range(sizes["world"])
    )


def _place(rank: int, split: Split, sizes: Sizes) -> Iterator[tuple[str, int]]:
    for symbol in split.order:
        rank, coordinate = divmod(rank, sizes[symbol])
        yield symbol, coordinate


def axes(mesh: Mesh) -> tuple[Axis, ...]:
    """Return the axes with more than one rank, in the backend's order; two with the same groups once.

    Raises ValueError for an illegal mesh.
    """
    places = rank_coordinates(mesh)
    # cp and ep often have the same groups; one grid for both says so, two hide it.
    symbols: dict[tuple[tuple[int, ...], ...], dict[str, None]] = {}
    for split in mesh.backend.splits:
        for symbol in split.order:
            symbols.setdefault(_groups(places, split, symbol), {})[symbol] = None
    return tuple(Axis(" = ".join(names), groups) for groups, names in symbols.items() if len(groups[0]) > 1)


def _groups(places: Sequence[Mapping[str, int]], split: Split, symbol: str) -> tuple[tuple[int, ...], ...]:
    others = [name for name in split.order if name != symbol]
    found: dict[tuple[int, ...], list[int]] = {}
    for rank, place in enumerate(places):
        found.setdefault(tuple(place[name] for name in others), []).append(rank)
    return tuple(sorted(tuple(group) for group in found.values()))


def row_length(mesh: Mesh) -> int:
    """Return the GPUs of a node where the mesh knows them, else at most 8: the ranks of one row of a drawing."""
    return min(mesh.sizes.get("gpn", 8), mesh.sizes["world"])


def text(mesh: Mesh) -> str:
    """Return for every axis what its groups are, and a grid with the group of each rank, a row a node.

    Raises ValueError for an illegal mesh.
    """
    per_row = row_length(mesh)
    blocks = [_text_axis(axis, per_row, mesh.sizes["world"]) for axis in axes(mesh)]
    return "\n\n".join(blocks) if blocks else "every rank is alone in all its groups"


def describe(axis: Axis, per_node: int) -> str:
    """Return "cp: 32 groups of 8, each within a node; rank 0 with 1-7"."""
    nodes = max(len({rank // per_node for rank in group}) for group in axis.groups)
    reach = "each within a node" if nodes == 1 else f"over {nodes} nodes"
    number = "1 group" if len(axis.groups) == 1 else f"{len(axis.groups)} groups"
    return f"{axis.symbol}: {number} of {axis.size}, {reach}; rank 0 with {_ranges(axis.groups[0][1:])}"


def _ranges(ranks: Sequence[int]) -> str:
    """The ranks with runs as "1-7", and the middle of a long list left out."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join(words if len(words) <= 8 else [*words[:6], "...", words[-1]])


def _text_axis(axis: Axis, per_row: int, world: int) -> str:
    number = _numbers(axis)
    width = len(str(len(axis.groups) - 1))
    label = len(str(world - 1))
    rows = [describe(axis, per_row)]
    for first in range(0, world, per_row):
        cells = " ".join(f"{number[rank]:>{width}}" for rank in range(first, min(first + per_row, world)))
        rows.append(f"  {first:>{label}} | {cells}")
    return "\n".join(rows)


def _numbers(axis: Axis) -> dict[int, int]:
    return {rank: number for number, group in enumerate(axis.groups) for rank in group}


def svg(mesh: Mesh) -> str:
    """Return an SVG element with one grid an axis: a row a node, ranks of one group in one colour with its number.

    It needs nothing from outside and suits light and dark pages. Raises ValueError for an illegal mesh.
    """
    world, per_row = mesh.sizes["world"], row_length(mesh)
    rows = math.ceil(world / per_row)
    blocks = math.ceil(rows / _ROWS)
    width = _LABEL + blocks * (per_row * _CELL_WIDTH + _GAP)
    height = _TITLE + min(rows, _ROWS) * _CELL_HEIGHT + _GAP
    shown = axes(mesh)
    in_row = max(1, min(len(shown), _WIDEST // width))
    panels = [
        _panel(axis, per_row, world, (index % in_row * width, index // in_row * height))
        for index, axis in enumerate(shown)
    ]
    total = in_row * width, max(1, math.ceil(len(shown) / in_row)) * height
    words = [f"{world} ranks", *(describe(axis, per_row) for axis in shown)]
    box = f'viewBox="0 0 {total[0]} {total[1]}" width="{total[0]}" height="{total[1]}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="9" role="img">',
        f"<title>{'. '.join(words)}</title>",
        *(line for panel in panels for line in panel),
        "</svg>",
    ]
    return "\n".join(lines)


def _panel(axis: Axis, per_row: int, world: int, corner: tuple[int, int]) -> Iterator[str]:
    def place(rank: int) -> tuple[int, int]:
        block, row = divmod(rank // per_row, _ROWS)
        x = _LABEL + block * (per_row * _CELL_WIDTH + _GAP) + rank % per_row * _CELL_WIDTH
        return x, _TITLE + row * _CELL_HEIGHT

    yield f'<g transform="translate({corner[0]} {corner[1]})">'
    number = "1 group" if len(axis.groups) == 1 else f"{len(axis.groups)} groups"
    yield f'<text x="{_LABEL}" y="12" font-size="12" fill="currentColor">{axis.symbol}: {number} of {axis.size}</text>'
    for first in range(0, world, per_row):
        x, y = place(first)
        yield f'<text x="{x - 4}" y="{y + 10}" text-anchor="end" fill="currentColor">{first}</text>'
    for index, group in enumerate(axis.groups):
        yield from _cells(axis.symbol, index, group, [place(rank) for rank in group])
    yield "</g>"


def _cells(symbol: str, index: int, group: Sequence[int], places: Sequence[tuple[int, int]]) -> Iterator[str]:
    """One group: its cells as one path, and its number in each cell."""
    # The golden angle keeps the hues of neighbouring numbers far apart, however many groups there are.
    hue = round(index * 137.508) % 360
    path = "".join(f"M{x} {y}h{_CELL_WIDTH - 1}v{_CELL_HEIGHT - 1}h-{_CELL_WIDTH - 1}z" for x, y in places)
    ranks = ", ".join(str(rank) for rank in group)
    yield f'<path fill="hsl({hue} 60% 78%)" d="{path}"><title>{symbol} group {index}: ranks {ranks}</title></path>'
    centre = (_CELL_WIDTH - 1) / 2
    marks = "".join(f'<tspan x="{x + centre:g}" y="{y + 10}">{index}</tspan>' for x, y in places)
    yield f'<text text-anchor="middle" fill="#111" pointer-events="none">{marks}</text>'
