"""The backends: one module each, which settings carry which size, what must divide what, what is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.parallel.backends import megatron, megatron_lite

if TYPE_CHECKING:
    from example_sanity.parallel.mesh import Backend, Mesh, Settings

BACKENDS: tuple[Backend, ...] = (*megatron_lite.BACKENDS, *megatron.BACKENDS)


def detect(settings: Settings, program: str | None = None) -> tuple[Backend, ...]:
    """Return the backends that a launch uses, one for each role that has a mesh of its own; the actor's first.

    ``settings`` are full dotted keys without ``+`` (group choices as ``actor@actor_rollout_ref.actor``) or flag names
    without dashes; ``program`` is the dotted module or the file that is launched.
    """
    return tuple(backend for backend in BACKENDS if backend.applies(settings, program))


def meshes(settings: Settings, program: str | None = None, world: int | None = None) -> tuple[Mesh, ...]:
    """Return the known meshes of a launch; a role whose sizes equal those of an earlier one is left out."""
    found: list[Mesh] = []
    for backend in detect(settings, program):
        mesh = backend.mesh(settings, world)
        if mesh is not None and all(
            (mesh.backend.name, mesh.sizes) != (m.backend.name, m.sizes) for m in found
        ):
            found.append(mesh)
    return tuple(found)
