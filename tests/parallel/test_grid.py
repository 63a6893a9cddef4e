"""The grid: bounded, deterministic, nearest first, and near enough to find what matters."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.parallel.grid import Grid, sizes_around

DEFAULTS = st.dictionaries(
    st.sampled_from(["NNODES", "GPUS", "TP", "PP", "EP", "CP", "ETP"]),
    st.sampled_from([1, 2, 3, 8, 32, 256]),
    max_size=7,
)


@given(defaults=DEFAULTS, limit=st.sampled_from([1, 7, 100, 500]))
@settings(deadline=None)
def test_bounded_and_nearest_first(defaults: dict[str, int], limit: int) -> None:
    grid = Grid.around(defaults, limit)
    assert len(grid.assignments) <= limit
    assert grid.assignments[0] == defaults
    distances = [len(grid.changes(assignment)) for assignment in grid.assignments]
    assert distances == sorted(distances)
    assert len({tuple(assignment.items()) for assignment in grid.assignments}) == len(grid.assignments)
    assert all(size > 0 for assignment in grid.assignments for size in assignment.values())
    assert grid == Grid.around(defaults, limit)


def test_every_single_and_double_change_of_seven_knobs_is_in_the_default_grid() -> None:
    grid = Grid.around({"NNODES": 32, "GPUS": 8, "TP": 1, "PP": 8, "EP": 8, "CP": 8, "ETP": 1})
    distances = [len(grid.changes(assignment)) for assignment in grid.assignments]
    sizes = [len(sizes_around(default)) - 1 for default in grid.defaults.values()]
    assert distances.count(1) == sum(sizes)
    assert distances.count(2) == (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    assert 2500 < len(grid.assignments) <= 3000


def test_a_sample_meets_all_sizes_of_all_knobs_about_equally_often() -> None:
    defaults = {"NNODES": 32, "GPUS": 8, "TP": 1, "PP": 8, "EP": 8, "CP": 8, "ETP": 1}
    for limit in (600, 2400, 2800, 3000):
        grid = Grid.around(defaults, limit)
        furthest = max(len(grid.changes(assignment)) for assignment in grid.assignments)
        changes = [grid.changes(assignment) for assignment in grid.assignments]
        sampled = Counter(item for change in changes if len(change) == furthest for item in change.items())
        assert len(sampled) == sum(len(sizes_around(default)) - 1 for default in defaults.values())
        assert min(sampled.values()) > max(sampled.values()) / 2


def test_a_small_space_is_tried_as_a_whole() -> None:
    grid = Grid.around({"NGPU": 16, "PP": 2})
    assert len(grid.assignments) == len(sizes_around(16)) * len(sizes_around(2))


def test_powers_of_two_and_small_sizes_come_first() -> None:
    grid = Grid.around({"CP": 8})
    assert [assignment["CP"] for assignment in grid.assignments] == [8, 1, 2, 4, 16, 32, 64, 3, 6, 24]


def test_sizes_around_a_default() -> None:
    assert sizes_around(1) == [1, 2, 3, 4, 6, 8, 16]
    assert sizes_around(32) == [1, 2, 3, 4, 6, 8, 16, 24, 32, 64, 96, 128, 256]
