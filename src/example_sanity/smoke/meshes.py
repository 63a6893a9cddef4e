"""The parallel sizes of a smoke run: as much of the launcher's mesh as the GPUs at hand can hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from example_sanity.parallel.mesh import Mesh, Sizes, stops

# Sizes of ranks that a launcher may set; others (a number of shards, of optimizer instances) follow from the world.
AXES = ("tp", "pp", "cp", "sp", "ep", "etp")


class Scaled(msgspec.Struct, frozen=True):
    """Legal sizes, all numbers that go with them, and what is derived."""

    sizes: Sizes
    numbers: Sizes
    derived: Sizes


def scale(
    mesh: Mesh, gpus: int, numbers: Callable[[Sizes], Sizes], fixed: Mapping[str, int]
) -> Scaled | None:
    """Return the sizes for one node of ``gpus`` GPUs, or None where none are legal.

    Each size is at most the launcher's and divides it. Of the legal meshes that one is taken that keeps most axes of the
    launcher above 1, then dp and edp; then the one with the smallest sizes. ``numbers`` are the batch, the lengths and
    the model that go with some sizes; ``fixed`` are sizes that stay.
    """
    found = [
        candidate
        for sizes in _candidates(mesh, gpus, fixed)
        if (candidate := _tried(mesh, sizes, numbers)) is not None
    ]
    return min(found, key=lambda candidate: _cost(mesh, candidate), default=None)


def obstacle(mesh: Mesh, gpus: int, numbers: Callable[[Sizes], Sizes], fixed: Mapping[str, int]) -> str:
    """Say why even the smallest sizes are not legal."""
    sizes = next(iter(_candidates(mesh, gpus, fixed)))
    complete = mesh.backend.complete(sizes)
    known = numbers({**complete, **mesh.backend.derived(complete)})
    values = mesh.backend.values(complete, known)
    broken = [rule for rule in mesh.backend.violated(complete, known) if stops([rule])]
    return "; ".join(rule.problem(values) for rule in broken) or "its sizes are not known"


def _candidates(mesh: Mesh, gpus: int, fixed: Mapping[str, int]) -> Iterator[Sizes]:
    symbols = [key.symbol for key in mesh.backend.keys if key.symbol in mesh.given]
    options = [_options(symbol, mesh.given[symbol], gpus, fixed) for symbol in symbols]
    for chosen in itertools.product(*options):
        sizes = dict(zip(symbols, chosen, strict=True))
        if sizes.get("pp", 1) == 1 and "vpp" not in fixed:
            sizes = {symbol: size for symbol, size in sizes.items() if symbol != "vpp" or size == 1}
        yield {**sizes, "world": gpus, "gpn": gpus, "nnodes": 1}


def _options(symbol: str, given: int, gpus: int, fixed: Mapping[str, int]) -> list[int]:
    if symbol in fixed:
        return [fixed[symbol]]
    if symbol == "vpp":
        return [given]
    divisors = [size for size in range(1, gpus + 1) if gpus % size == 0]
    if symbol not in AXES:
        # Replicas and shards fill what the axes leave of the world.
        return sorted({given, *divisors})
    return [size for size in divisors if given % size == 0]


def _tried(mesh: Mesh, sizes: Sizes, numbers: Callable[[Sizes], Sizes]) -> Scaled | None:
    backend, unknown = mesh.backend, mesh.unknown & mesh.backend.mesh_symbols - sizes.keys()
    complete = backend.complete(sizes, unknown)
    derived = backend.derived(complete)
    known = numbers({**complete, **derived})
    whole = all(split.known(complete) and split.whole(complete) for split in backend.splits)
    if not whole or stops(backend.violated(complete, known, unknown)):
        return None
    return Scaled(sizes, known, derived)


def _cost(mesh: Mesh, found: Scaled) -> tuple[int, int, int, list[int]]:
    before, after = {**mesh.given, **mesh.derived}, {**found.sizes, **found.derived}

    def kept(symbols: Sequence[str]) -> int:
        return sum(before.get(symbol, 1) > 1 and after.get(symbol, 1) > 1 for symbol in symbols)

    axes = [after.get(symbol, 1) for symbol in AXES]
    return -kept(AXES), -kept(("dp", "edp")), sum(axes), axes
