"""What a smoke run of Megatron-LM changes. Its model is made of flags, and its data are mock data: no file is needed.

Source: Megatron-LM ``megatron/training/arguments.py`` and ``pretrain_gpt.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from example_sanity.parallel.keys import whole_number
from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.checkpoints.configs import VOCABULARY
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target
from example_sanity.smoke.trainers import flags

_DATA = (
    "data-path",
    "data-args-path",
    "train-data-path",
    "valid-data-path",
    "test-data-path",
    "per-split-data-args-path",
)
_NEVER = "1000000"


def numbers(mesh: Mesh, sizes: Sizes) -> dict[str, int]:
    """Return the batch, the length and the model for some sizes; the same symbols as the backend's."""
    batch = math.lcm(8, sizes.get("dp", 1))
    return {**flags.shape(mesh, sizes), "mbs": 1, "gbs": batch, "seq": flags.LENGTH}


def targets(plan: Outline) -> Iterator[Target]:
    """Yield everything that a smoke run of Megatron-LM sets."""
    batch = plan.scaled.numbers["gbs"]
    yield from flags.model(plan)
    yield Target("micro-batch-size", "1", "one sample at a time fits everywhere")
    yield Target("global-batch-size", str(batch), "a small batch that every rank gets a share of")
    yield Target("seq-length", str(flags.LENGTH), "short samples")
    yield from _data(plan)
    yield from _ends(plan, batch)


def _data(plan: Outline) -> Iterator[Target]:
    for key in _DATA:
        if plan.text(key) is not None:
            yield flags.gone(key, "mock data are no files")
    yield flags.switched_on("mock-data", "no data set is needed")
    why = "mock data are numbers"
    yield Target("tokenizer-type", "NullTokenizer", why)
    yield Target("vocab-size", str(VOCABULARY), why)


def _ends(plan: Outline, batch: int) -> Iterator[Target]:
    if plan.text("train-samples") is not None:
        yield Target("train-samples", str(plan.steps * batch), "enough to see that it learns")
    else:
        yield Target("train-iters", str(plan.steps), "enough to see that it learns")
    yield Target("log-interval", "1", "each step is looked at")
    yield Target("eval-iters", "0", "no validation is wanted")
    for key in ("lr-warmup-iters", "lr-warmup-samples"):
        if (whole_number(plan.text(key)) or 0) > 0:
            yield Target(key, "0", "there are no steps to spend on it")
    out = str(plan.folder / "out")
    yield from flags.set_only(plan, "save", out, "what is written all the same is no checkpoint of yours")
    yield from flags.set_only(plan, "save-interval", _NEVER, "no checkpoint is wanted")
    yield from flags.set_only(
        plan, "load", str(plan.folder / "none"), "there is no checkpoint of a tiny model"
    )
    yield from flags.set_only(plan, "tensorboard-dir", out, "the verdict is read from the output")
    if plan.text("pretrained-checkpoint") is not None:
        yield flags.gone("pretrained-checkpoint", "there is no checkpoint of a tiny model")
