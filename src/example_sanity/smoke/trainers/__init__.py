"""What a smoke run changes, by trainer: one table each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.families import FAMILIES
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target
from example_sanity.smoke.trainers import megatron, slime, verl


class Trainer(msgspec.Struct, frozen=True):
    """A trainer: the backends through which it runs, the numbers of a tiny run, and the settings of one.

    ``steps`` are the optimizer steps by kind of training. ``loads`` says whether it loads a checkpoint, which is made then with
    the data; otherwise its model is made of flags. ``models`` are the settings that name it (none: the backend's),
    ``families`` those that will do.
    """

    name: str
    numbers: Callable[[Mesh, Sizes], dict[str, int]]
    targets: Callable[[Outline], Iterator[Target]]
    steps: dict[Literal["sft", "rl"], int]
    loads: bool = True
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = FAMILIES


VERL = Trainer("verl", verl.numbers, verl.targets, {"sft": 4, "rl": 2})
MEGATRON = Trainer("Megatron-LM", megatron.numbers, megatron.targets, {"sft": 4}, loads=False)
SLIME = Trainer(
    "slime",
    slime.numbers,
    slime.targets,
    {"rl": 2},
    models=("hf-checkpoint",),
    families=("qwen3", "qwen3_moe", "qwen2", "llama"),
)
_OF_VERL = frozenset(("megatron_lite", "megatron", "fsdp", "veomni", "automodel", "torchtitan"))


def of(mesh: Mesh) -> Trainer | None:
    """Return the trainer of a mesh, or None where smoke knows none."""
    if mesh.backend.name in _OF_VERL and mesh.backend.role in ("actor", "sft") and mesh.backend.models:
        return VERL
    if mesh.backend.name == "megatron_lm":
        return MEGATRON
    return SLIME if mesh.backend.name == "slime" else None
