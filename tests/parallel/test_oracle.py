"""The groups of the algebra against those that the backends' own code builds, in a checkout of Megatron-LM (``--corpus``)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from example_sanity.parallel.backends import megatron, megatron_lite
from example_sanity.parallel.draw import rank_coordinates
from example_sanity.parallel.mesh import Backend, Mesh

WORKER = Path(__file__).with_name("ranks_worker.py")
SOURCES = {
    "lite": "experimental/lite/megatron/lite/primitive/parallel/state.py",
    "core": "megatron/core/parallel_state.py",
}
BACKENDS = {"lite": megatron_lite.ENGINE_BACKEND, "core": megatron.ENGINE_BACKEND}
SIZES = (1, 1, 2, 2, 3, 4)


def _assignments(count: int) -> list[dict[str, int]]:
    """Return random sizes, half of them made for a legal dense part; the same every time."""
    chance = random.Random(0)
    found: list[dict[str, int]] = []
    while len(found) < count:
        sizes = {symbol: chance.choice(SIZES) for symbol in ("tp", "cp", "pp", "ep", "etp")}
        dense = sizes["tp"] * sizes["cp"] * sizes["pp"]
        world = dense * chance.randint(1, 4) if len(found) % 2 else chance.randint(1, 32)
        if world <= 48:
            found.append({**sizes, "world": world})
    return found


def _groups(mesh: Mesh) -> dict[str, list[list[int]]]:
    """Return the groups of every axis: the ranks whose other coordinates are the same."""
    places = rank_coordinates(mesh)
    found = {}
    for split in mesh.backend.splits:
        for axis in split.order:
            same: dict[tuple[int, ...], list[int]] = {}
            for rank, place in enumerate(places):
                key = tuple(place[symbol] for symbol in split.order if symbol != axis)
                same.setdefault(key, []).append(rank)
            found[axis] = sorted(same.values())
    return found


def _oracle(
    kind: str, path: Path, assignments: list[dict[str, int]]
) -> list[dict[str, list[list[int]]] | None]:
    request = json.dumps({"kind": kind, "path": str(path), "assignments": assignments})
    ran = subprocess.run(
        [sys.executable, "-I", str(WORKER)], input=request, capture_output=True, text=True, check=True
    )
    answers: list[dict[str, list[list[int]]] | None] = json.loads(ran.stdout)
    return answers


@pytest.mark.corpus
@pytest.mark.parametrize("kind", SOURCES)
def test_the_groups_are_those_of_the_backend(corpus: Path, kind: str) -> None:
    path = corpus / SOURCES[kind]
    if not path.is_file():
        return  # another repository
    backend: Backend = BACKENDS[kind]
    assignments = _assignments(300)
    legal = 0
    for sizes, answer in zip(assignments, _oracle(kind, path, assignments), strict=True):
        mesh = Mesh(backend, sizes, {})
        assert mesh.buildable == (answer is not None), sizes
        if answer is not None:
            legal += 1
            ours = _groups(mesh)
            assert {axis: ours[axis] for axis in answer} == answer, sizes
    assert legal > 50
