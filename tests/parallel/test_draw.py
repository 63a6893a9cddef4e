"""The drawings against an enumeration of the ranks by nested loops, and by their whole text."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from example_sanity.parallel.backends import BACKENDS, megatron, megatron_lite
from example_sanity.parallel.draw import axes, rank_coordinates, svg, text
from example_sanity.parallel.mesh import Backend, Mesh

LITE = megatron_lite.ACTOR_BACKEND
SIZE = st.sampled_from([1, 2, 3, 4, 8])
SVG = "{http://www.w3.org/2000/svg}"


def mesh(world: int, backend: Backend = LITE, **sizes: int) -> Mesh:
    return Mesh(backend, {"world": world, **sizes}, {})


def loops(subject: Mesh, order: tuple[str, ...]) -> list[dict[str, int]]:
    """The coordinates of every rank by nested loops, the slowest outermost. No division involved."""
    sizes = {**subject.sizes, **subject.derived}
    slowest_first = order[::-1]
    places = itertools.product(*(range(sizes[symbol]) for symbol in slowest_first))
    return [dict(zip(slowest_first, place, strict=True)) for place in places]


@given(
    backend=st.sampled_from([LITE, megatron.ACTOR_BACKEND]),
    sizes=st.fixed_dictionaries(dict.fromkeys(("tp", "cp", "pp", "ep", "etp"), SIZE)),
    dp=st.sampled_from([1, 2, 3, 4]),
)
@settings(deadline=None, max_examples=60)
def test_coordinates_and_groups_are_those_of_nested_loops(
    backend: Backend, sizes: dict[str, int], dp: int
) -> None:
    world = sizes["tp"] * sizes["cp"] * sizes["pp"] * dp
    assume(world <= 128)
    subject = mesh(world, backend, **sizes)
    assume(subject.legal)
    places = rank_coordinates(subject)
    drawn = {symbol: axis.groups for axis in axes(subject) for symbol in axis.symbol.split(" = ")}
    for split in backend.splits:
        right = loops(subject, split.order)
        assert [{symbol: place[symbol] for symbol in split.order} for place in places] == right
        for symbol in split.order:
            groups = tuple(
                tuple(rank for rank in range(world) if _same_but(right[rank], right[first], symbol))
                for first in range(world)
                if right[first][symbol] == 0
            )
            assert drawn.get(symbol, groups) == groups
            assert (symbol in drawn) == (len(groups[0]) > 1)


def _same_but(one: dict[str, int], other: dict[str, int], symbol: str) -> bool:
    return all(one[name] == other[name] for name in one if name != symbol)


def test_ranks_alone_have_nothing_to_draw() -> None:
    assert axes(mesh(1)) == ()
    assert text(mesh(1)) == "every rank is alone in all its groups"
    assert ET.fromstring(svg(mesh(1))).findall(f"{SVG}g") == []


@pytest.mark.parametrize("draw", [rank_coordinates, axes, text, svg])
def test_an_illegal_mesh_has_no_drawing(draw: object) -> None:
    assert callable(draw)
    with pytest.raises(ValueError, match="an illegal mesh has no ranks to draw"):
        draw(mesh(8, cp=3))


def test_text() -> None:
    assert text(mesh(8, tp=2, cp=2, ep=4)) == (
        "tp: 4 groups of 2, each within a node; rank 0 with 1\n"
        "  0 | 0 0 1 1 2 2 3 3\n"
        "\n"
        "cp: 4 groups of 2, each within a node; rank 0 with 2\n"
        "  0 | 0 1 0 1 2 3 2 3\n"
        "\n"
        "dp = edp: 4 groups of 2, each within a node; rank 0 with 4\n"
        "  0 | 0 1 2 3 0 1 2 3\n"
        "\n"
        "ep: 2 groups of 4, each within a node; rank 0 with 1-3\n"
        "  0 | 0 0 0 0 1 1 1 1"
    )


def test_a_row_is_a_node_and_long_lists_are_cut() -> None:
    lines = text(mesh(24, gpn=4, nnodes=6, pp=12)).split("\n")

    assert lines[0] == "dp = edp: 12 groups of 2, each within a node; rank 0 with 1"
    assert lines[1:3] == ["   0 |  0  0  1  1", "   4 |  2  2  3  3"]
    assert lines[8] == "pp: 2 groups of 12, over 6 nodes; rank 0 with 2, 4, 6, 8, 10, 12, ..., 22"


def test_svg_has_every_rank_once_an_axis() -> None:
    subject = mesh(256, nnodes=32, gpn=8, cp=8, pp=8, ep=8)
    root = ET.fromstring(svg(subject))
    panels = root.findall(f"{SVG}g")

    assert [panel.findtext(f"{SVG}text") for panel in panels] == [
        "cp = ep: 32 groups of 8",
        "dp = edp: 64 groups of 4",
        "pp: 32 groups of 8",
    ]
    for panel, axis in zip(panels, axes(subject), strict=True):
        paths = panel.findall(f"{SVG}path")
        assert len(paths) == len(axis.groups)
        cells = [cell for path in paths for cell in path.get("d", "").split("z")[:-1]]
        assert len(set(cells)) == 256
    assert (root.findtext(f"{SVG}title") or "").startswith("256 ranks. cp = ep: 32 groups of 8, each within")


def test_many_nodes_go_into_several_columns() -> None:
    root = ET.fromstring(svg(mesh(512, nnodes=64, gpn=8, pp=8)))

    assert int(root.get("height", "0")) < 2 * (32 * 14 + 48) + 1


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: f"{backend.name}-{backend.role}")
def test_every_backend_with_a_rank_order_can_be_drawn(backend: Backend) -> None:
    for split in backend.splits:
        first, second = split.parts[0], split.parts[-1]
        rest = {"shards": -1} if any(key.symbol == "shards" for key in backend.keys) else {}
        assert axes(mesh(8, backend, **{first: 2, second: 2}, **rest))
