"""The legal sizes nearest to those of a launch, for a number of GPUs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from example_sanity.parallel.mesh import Mesh, stops

MOST_CHANGED = 2  # more sizes than that at once are another launch, not a nearby one


class Choice(msgspec.Struct, frozen=True):
    """Sizes that are legal: those that differ from the launch's, and the whole mesh."""

    changed: Mapping[str, int]
    mesh: Mesh


def nearest(mesh: Mesh, gpus: int, per_node: int | None = None, limit: int = 5) -> tuple[Choice, ...]:
    """Return at most ``limit`` legal meshes on ``gpus`` ranks, the nearest first.

    First come those with the fewest changed sizes, then those whose tensor parallel ranks share a node of ``per_node``
    GPUs (default: the launch's), then larger dp. What is known of model, rollout and batch must hold, too.
    """
    moved = _moved(mesh, gpus, per_node)
    found: list[Choice] = []
    for count in range(MOST_CHANGED + 1):
        found += [Choice(changed, one) for changed, one in _changes(moved, gpus, count) if _legal(one)]
        if len(found) >= limit:
            break
    return tuple(sorted(found, key=_cost)[:limit])


def _moved(mesh: Mesh, gpus: int, per_node: int | None) -> Mesh:
    """The mesh of a launch on other GPUs."""
    size = per_node or min(gpus, mesh.values.get("gpn", gpus))
    given = {**mesh.given, "world": gpus, "gpn": size, "nnodes": -(-gpus // size)}
    facts = {
        symbol: one for symbol, one in mesh.facts.items() if symbol not in ("launched", "reserved", "gpn")
    }
    return replace(mesh, given=given, facts=facts)


def _changes(mesh: Mesh, gpus: int, count: int) -> Iterator[tuple[dict[str, int], Mesh]]:
    sizes = [size for size in range(1, gpus + 1) if gpus % size == 0]
    symbols = [key.symbol for key in mesh.backend.keys if key.symbol in mesh.sizes]
    for chosen in itertools.combinations(symbols, count):
        for values in itertools.product(sizes, repeat=count):
            changed = dict(zip(chosen, values, strict=True))
            if all(mesh.sizes[symbol] != size for symbol, size in changed.items()):
                yield changed, replace(mesh, given={**mesh.given, **changed})


def _legal(mesh: Mesh) -> bool:
    whole = all(split.known(mesh.sizes) and split.whole(mesh.sizes) for split in mesh.backend.splits)
    return whole and not stops(mesh.backend.violated(mesh.sizes, mesh.facts, mesh.unknown))


def _cost(choice: Choice) -> tuple[int, bool, int, list[tuple[str, int]]]:
    sizes, derived = choice.mesh.sizes, choice.mesh.derived
    crosses = sizes.get("tp", 1) > sizes["gpn"]
    return len(choice.changed), crosses, -derived.get("dp", 0), sorted(choice.changed.items())
