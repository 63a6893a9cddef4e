"""What holds for every backend: the GPUs that a launch gets, and where its tensor parallel ranks lie.

Sources: torch ``distributed/elastic`` and Ray start as many ranks as they are told and compare them with no mesh; no
backend checks that tensor parallel ranks share a node, although every layer makes them talk.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.constraint import claims
from example_sanity.parallel.mesh import Backend

LAUNCHED = claims(
    """
    RA-01 MSH010 H init | ray/util/placement_group.py
    launched >= needed
    the launcher has {launched} GPUs, but the settings ask for {needed}

    RA-02 MSH010 wasteful init | torch/distributed/elastic
    reserved <= needed
    {reserved} GPUs are reserved, but only {needed} of them get a rank
    """
)
ON_RAY = claims(
    """
    RA-03 MSH010 H init | ray/util/placement_group.py
    ray_gpus >= gpn
    ray start gives a node {ray_gpus} GPUs, but the settings ask for {gpn} on each
    """
)
CROSS_NODE = claims(
    """
    XN-01 MSH011 slow init | megatron/core/parallel_state.py
    tp > 1 and world > gpn => tp <= gpn and gpn % tp = 0
    tensor parallel groups of tp{tp} span nodes of {gpn} GPUs
    """
)


def anywhere(backend: Backend) -> Backend:
    """Return a backend with what holds for every one, as far as it has the numbers."""
    needs = any(symbol == "needed" for symbol, _ in backend.lets)
    split = any("tp" in split.parts for split in backend.splits)
    return replace(
        backend,
        constraints=(
            *backend.constraints,
            *(LAUNCHED if backend.splits else ()),
            *(ON_RAY if backend.splits and any(key.symbol == "gpn" for key in backend.world) else ()),
            *(CROSS_NODE if split else ()),
        ),
        lets=backend.lets if needs else (*backend.lets, ("needed", "world")),
    )
