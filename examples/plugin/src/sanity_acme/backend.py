"""The parallel arithmetic of a trainer: which flags carry which size, and what must divide what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.parallel.mesh import Backend, Key, Split, divides

if TYPE_CHECKING:
    from example_sanity.parallel.mesh import Settings

DENSE = Split("dp", ("tp", "pp"), ("tp", "dp", "pp"))


def _applies(settings: Settings, program: str | None) -> bool:
    return program == "acme.train"


BACKEND = Backend(
    name="acme",
    title="Acme",
    role="actor",
    keys=(Key("tp", ("tp",), 1), Key("pp", ("pp",), 1)),
    world=(Key("nnodes", ("nodes",), 1), Key("gpn", ("gpus-per-node",), 8)),
    splits=(DENSE,),
    constraints=(divides(DENSE, "ACME-1", "MSH001", "AssertionError", "acme/mesh.py:10"),),
    applies=_applies,
)
