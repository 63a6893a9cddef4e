"""What a smoke run changes, by trainer: one table each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target
from example_sanity.smoke.trainers import verl


@dataclass(frozen=True)
class Trainer:
    """A trainer: the backends through which it runs, the numbers of a tiny run, and the settings of one.

    ``steps`` are the optimizer steps by kind of training. ``data`` says that it reads data that is made for it.
    """

    name: str
    numbers: Callable[[Mesh, Sizes], dict[str, int]]
    targets: Callable[[Outline], Iterator[Target]]
    steps: dict[Literal["sft", "rl"], int]


VERL = Trainer("verl", verl.numbers, verl.targets, {"sft": 4, "rl": 2})
_OF_VERL = frozenset(("megatron_lite", "megatron", "fsdp", "veomni", "automodel", "torchtitan"))


def of(mesh: Mesh) -> Trainer | None:
    """Return the trainer of a mesh, or None where smoke knows none."""
    if mesh.backend.name in _OF_VERL and mesh.backend.role in ("actor", "sft") and mesh.backend.models:
        return VERL
    return None
