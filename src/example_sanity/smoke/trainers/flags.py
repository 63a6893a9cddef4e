"""What smoke runs of trainers with flags share: Megatron-LM's sizes of a model, and flags that cannot stay.

Source: Megatron-LM ``megatron/training/arguments.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.checkpoints.configs import HIDDEN
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target

LENGTH = 256
TINY = "a tiny model"
# Sizes that stand in no symbol of the mesh, as they are in a tiny model.
_WIDTHS = {
    "ffn-hidden-size": 512,
    "kv-channels": 64,
    "moe-ffn-hidden-size": 128,
    "moe-shared-expert-intermediate-size": 128,
    "moe-router-topk": 2,
    "moe-router-num-groups": 1,
    "moe-router-group-topk": 1,
    "moe-layer-freq": 1,
    "max-position-embeddings": LENGTH,
}
_SHAPE = ("layers", "heads", "kv", "hidden", "experts")
# How the layers are split, where that is not even: it has to fit the layers that there no longer are.
_UNEVEN = {
    "first": "decoder-first-pipeline-num-layers",
    "last": "decoder-last-pipeline-num-layers",
    "vlayers": "num-layers-per-virtual-pipeline-stage",
    "vranks": "num-virtual-stages-per-pipeline-rank",
    "layout": "pipeline-model-parallel-layout",
    "hybrid": "hybrid-layer-pattern",
    "ramp": "rampup-batch-size",
}


def shape(mesh: Mesh, sizes: Sizes) -> dict[str, int]:
    """Return the facts of a launch with the sizes of a tiny model, those that the launcher states."""
    groups = math.lcm(2, sizes.get("tp", 1))
    tiny = {
        "layers": max(2, sizes.get("pp", 1)),
        "heads": 2 * groups,
        "kv": groups,
        "hidden": HIDDEN,
        "experts": math.lcm(8, sizes.get("ep", 1)),
        "kv_channels": 64,
    }
    known = {symbol: size for symbol, size in tiny.items() if mesh.facts.get(symbol)}
    return {**mesh.facts, **known, **dict.fromkeys(_UNEVEN.keys() & mesh.facts.keys(), 0)}


def model(plan: Outline) -> Iterator[Target]:
    """Yield the flags that describe the model."""
    for symbol in _SHAPE:
        key = plan.mesh.origin.get(symbol)
        if key is not None:
            yield Target(key, str(plan.scaled.numbers[symbol]), TINY)
    for key, size in _WIDTHS.items():
        if plan.text(key) is not None:
            yield Target(key, str(size), TINY)
    for symbol in _UNEVEN:
        key = plan.mesh.origin.get(symbol)
        if key is not None:
            yield gone(key, "it is made for the layers and batches of the real run")


def gone(key: str, why: str) -> Target:
    """Return the target that a flag is left out. None of the launcher's own can be taken back from behind it."""
    return Target(key, "", why, lambda text: text is None)


def switched_on(key: str, why: str) -> Target:
    """Return the target that a switch is there."""
    return Target(key, "", why, lambda text: text is not None, words=(f"--{key}",))


def set_only(plan: Outline, key: str, value: str, why: str) -> Iterator[Target]:
    """Yield the target where the launcher sets the flag at all."""
    if plan.text(key) is not None:
        yield Target(key, value, why)
