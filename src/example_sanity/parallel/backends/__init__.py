"""The backends: one module each, which settings carry which size, what must divide what, what is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.parallel.backends import (
    automodel,
    deepspeed,
    fsdp,
    megatron,
    megatron_lite,
    megatron_lm,
    miles,
    mindspeed,
    nemo_rl,
    openrlhf,
    roll,
    serving,
    sized,
    skyrl,
    slime,
    torchtitan,
    veomni,
)
from example_sanity.parallel.backends.common import anywhere
from example_sanity.parallel.keys import PROGRAM
from example_sanity.parallel.mesh import NOTHING
from example_sanity.parallel.models import ModelFacts, Models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from example_sanity.parallel.mesh import Backend, Mesh, Settings, Sizes

_MODULES = (
    megatron_lite,
    megatron,
    fsdp,
    veomni,
    automodel,
    torchtitan,
    slime,
    miles,
    skyrl,
    openrlhf,
    nemo_rl,
    roll,
    mindspeed,
    megatron_lm,
    deepspeed,
    serving,
    sized,
)
BACKENDS: tuple[Backend, ...] = tuple(anywhere(one) for module in _MODULES for one in module.BACKENDS)
SHIPPED = Models()
_further: list[Backend] = []


def use(further: Iterable[Backend]) -> None:
    """Know ``further`` backends besides our own, and no others. This holds for the process."""
    _further[:] = further


def detect(settings: Settings, program: str | None = None) -> tuple[Backend, ...]:
    """Return the backends that a launch uses, one for each role that has a mesh of its own; the actor's first.

    ``settings`` are full dotted keys without ``+`` (group choices as ``actor@actor_rollout_ref.actor``) or flag names
    without dashes; ``program`` is the dotted module or the file that is launched.
    """
    if "cfg" in settings:  # Hydra prints the configuration and runs nothing
        return ()
    known = tuple(backend for backend in (*BACKENDS, *_further) if backend.applies(settings, program))
    return known or tuple(anywhere(backend) for backend in sized.found(settings))


def plans(
    settings: Settings,
    program: str | None = None,
    world: int | None = None,
    *,
    machine: Sizes = NOTHING,
    model: Callable[[str], ModelFacts | None] = SHIPPED.lookup,
) -> tuple[Mesh, ...]:
    """Return the meshes of a launch with what is known of each; a role that adds nothing is left out.

    ``world`` is the number of ranks that the launcher starts, for a trainer that does not start them itself. ``machine``
    are facts of the launcher: ``gpn``, the GPUs of a node, ``launched``, those that there are, and ``reserved``, those that
    a scheduler keeps for this launch alone. ``model`` finds the facts of the model that the settings name by hub id or path.
    """
    found: list[Mesh] = []
    for backend in detect(settings, program):
        ranks = world if backend.is_launched else None
        mesh = backend.mesh(
            {**settings, PROGRAM: program},
            ranks,
            {
                **_model(backend.models, settings, model),
                **_prefixed(_model(backend.checkpoints, settings, model)),
                **machine,
            },
        )
        if all((mesh.backend.name, mesh.values) != (m.backend.name, m.values) for m in found):
            found.append(mesh)
    return tuple(found)


def meshes(settings: Settings, program: str | None = None, world: int | None = None) -> tuple[Mesh, ...]:
    """Return the meshes of a launch whose sizes are all known; a role with the sizes of an earlier one is left out."""
    found: list[Mesh] = []
    for mesh in plans(settings, program, world):
        if mesh.complete and all((mesh.backend.name, mesh.sizes) != (m.backend.name, m.sizes) for m in found):
            found.append(mesh)
    return tuple(found)


def _prefixed(facts: Sizes) -> Sizes:
    return {f"hf_{symbol}": number for symbol, number in facts.items()}


def _model(keys: Iterable[str], settings: Settings, model: Callable[[str], ModelFacts | None]) -> Sizes:
    names = (settings[key] for key in keys if isinstance(settings.get(key), str))
    found = next((facts for name in names if (facts := model(str(name))) is not None), None)
    return found.numbers if found else NOTHING
