"""The nearest legal sizes of a launch, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from example_sanity.checks.mesh.bridge import LaunchMesh
from example_sanity.parallel.nearest import nearest

Data = dict[str, Any]


class More(msgspec.Struct, frozen=True):
    """What ``plan`` shows besides: ``draw`` the ranks, ``suggest`` the nearest legal sizes.

    Those are for ``gpus`` ranks on nodes of ``per_node`` GPUs (None: the launch's own).
    """

    draw: bool = False
    suggest: bool = False
    gpus: int | None = None
    per_node: int | None = None


NO_MORE = More()
_NONE = "    no change of two sizes is legal; rollout, batch and model are left as they are"


def suggested(shown: LaunchMesh, more: More) -> Data:
    """Return the ``suggestions`` of a mesh, each in the launcher's own names, or nothing where none are wanted."""
    if not more.suggest or not shown.mesh.backend.splits:
        return {}
    names = shown.names
    gpus = more.gpus or shown.mesh.sizes["world"]
    # On no GPU at all nothing is legal.
    found = nearest(shown.mesh, gpus, more.per_node) if gpus > 0 else ()
    return {
        "suggestions": [
            {
                "changed": {names.get(symbol, symbol): size for symbol, size in choice.changed.items()},
                "world": choice.mesh.sizes["world"],
                "derived": dict(choice.mesh.derived),
            }
            for choice in found
        ]
    }


def suggestion_lines(suggestions: Sequence[Data]) -> Iterator[str]:
    """Yield the lines of suggestions: the GPUs, what changes, and the derived sizes."""
    yield "    nearest legal sizes:" if suggestions else _NONE
    for item in suggestions:
        changed = " ".join(f"{name}={size}" for name, size in item["changed"].items()) or "nothing changed"
        derived = ", ".join(f"{symbol} {size}" for symbol, size in item["derived"].items())
        yield f"      {item['world']} GPUs, {changed}: {derived}"
