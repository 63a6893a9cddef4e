"""Every backend with a rank order against an enumeration of its ranks, and every constraint has its case."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from example_sanity.parallel.backends import BACKENDS
from example_sanity.parallel.constraint import Split
from parallel import (
    test_engines,
    test_megatron_lm,
    test_options,
    test_recipes,
    test_slime,
    test_trainers,
    test_verl_batch,
)

FAMILIES = {
    name: [split for backend in BACKENDS if backend.name == name for split in backend.splits]
    for name in sorted({backend.name for backend in BACKENDS if backend.splits})
}
SIZES = (1, 1, 1, 2, 2, 3, 4, 6, 8)
ASSIGNMENTS, ENUMERATED = 10_000, 400


def worlds(split: Split, count: int) -> Iterator[dict[str, int]]:
    """Return random sizes, half of them made to be legal; the same every time."""
    chance = random.Random(0)
    for number in range(count):
        sizes = {part: chance.choice(SIZES) for part in split.parts}
        product = split.size(sizes)
        legal = number % 2 == 0 and product <= 96
        yield {
            **sizes,
            "world": product * chance.randint(1, 96 // product) if legal else chance.randint(1, 96),
        }


def loops(split: Split, sizes: dict[str, int]) -> list[tuple[int, ...]] | None:
    """Return the coordinates of every rank by nested loops, slowest outermost, or None where none fill the world.

    No division: the free loop gets longer until the ranks are as many as the world.
    """
    for free in range(1, sizes["world"] + 1):
        lengths = [free if symbol == split.derived else sizes[symbol] for symbol in reversed(split.order)]
        ranks = list(itertools.islice(itertools.product(*map(range, lengths)), sizes["world"] + 1))
        if len(ranks) >= sizes["world"]:
            return ranks if len(ranks) == sizes["world"] else None
    return None


def fills(split: Split, sizes: dict[str, int]) -> bool:
    """Whether replicas of the parts, laid one beside another, end where the world ends."""
    replica = sum(1 for _ in itertools.product(*(range(sizes[part]) for part in split.parts)))
    ranks = replica
    while ranks < sizes["world"]:
        ranks += replica
    return ranks == sizes["world"]


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_legal_fills_the_world(name: str) -> None:
    splits = list(dict.fromkeys(FAMILIES[name]))
    for split in splits:
        for sizes in worlds(split, ASSIGNMENTS // len(splits) + 1):
            assert split.whole(sizes) == fills(split, sizes), sizes


@pytest.mark.parametrize("name", FAMILIES)
def test_every_rank_is_in_one_group_of_each_axis(name: str) -> None:
    for split in dict.fromkeys(FAMILIES[name]):
        assert sorted(split.order) == sorted((*split.parts, split.derived))
        for sizes in worlds(split, ENUMERATED):
            ranks = loops(split, sizes)
            assert split.whole(sizes) == (ranks is not None), sizes
            if ranks is not None:
                assert_partition(split, sizes, ranks)


def assert_partition(split: Split, sizes: dict[str, int], ranks: list[tuple[int, ...]]) -> None:
    """Along each axis the ranks fall into groups of its size."""
    everything = {**sizes, split.derived: sizes["world"] // split.size(sizes)}
    for axis, symbol in enumerate(reversed(split.order)):
        groups: dict[tuple[int, ...], int] = {}
        for place in ranks:
            others = place[:axis] + place[axis + 1 :]
            groups[others] = groups.get(others, 0) + 1
        assert set(groups.values()) == {everything[symbol]}
        assert len(groups) * everything[symbol] == sizes["world"]


@pytest.mark.parametrize(
    "name",
    [name for name, splits in FAMILIES.items() if {"dp", "edp"} <= {split.derived for split in splits}],
)
def test_dense_layers_and_experts_share_their_pipelines(name: str) -> None:
    dense, expert = (
        next(split for split in FAMILIES[name] if split.derived == kind) for kind in ("dp", "edp")
    )
    common = 0
    for sizes in worlds(dense, 4 * ENUMERATED):
        more = {part: sizes.get(part, 1 + sizes["world"] % 3) for part in expert.parts}
        both = {**more, **sizes}
        ours, theirs = loops(dense, both), loops(expert, both)
        if ours is not None and theirs is not None:
            common += 1
            last = [
                [place[list(reversed(split.order)).index("pp")] for place in ranks]
                for split, ranks in ((dense, ours), (expert, theirs))
            ]
            assert last[0] == last[1]
    assert common > 20


def test_every_constraint_of_every_backend_has_a_case() -> None:
    modules = (test_engines, test_options, test_recipes, test_trainers, test_verl_batch)
    cases = [case for module in modules for _, some in module.ALL for case in some]
    covered = {case.id for case in (*cases, *test_megatron_lm.CASES, *test_slime.CASES)}
    # These need what only a launcher shows, and have tests of their own.
    assert {rule.id for backend in BACKENDS for rule in backend.constraints} - covered == {
        "MC-19",
        "RA-01",
        "RA-02",
        "RA-03",
        "XN-01",
    }
