"""What a smoke run of slime changes: Megatron-LM's flags for the model that the checkpoint has, the rollout, the data.

Sources: slime ``utils/arguments.py`` and ``backends/megatron_utils/checkpoint.py``, which loads a Hugging Face folder as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from example_sanity.parallel.mesh import Mesh, Sizes
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.steering import Target
from example_sanity.smoke.trainers import flags

PROMPTS, RESPONSES, RESPONSE = 8, 2, 64
_NEVER = "1000000"
# Flags of the model by the key of its config.json.
_MODEL = {
    "num-layers": "num_hidden_layers",
    "hidden-size": "hidden_size",
    "ffn-hidden-size": "intermediate_size",
    "num-attention-heads": "num_attention_heads",
    "num-query-groups": "num_key_value_heads",
    "kv-channels": "head_dim",
    "vocab-size": "vocab_size",
    "norm-epsilon": "rms_norm_eps",
    "rotary-base": "rope_theta",
    "num-experts": "num_experts",
    "moe-ffn-hidden-size": "moe_intermediate_size",
    "moe-router-topk": "num_experts_per_tok",
}


def numbers(mesh: Mesh, sizes: Sizes) -> dict[str, int]:
    """Return the batch chain and the rollout for some sizes; the same symbols as the backend's."""
    prompts = math.lcm(PROMPTS, sizes.get("dp", 1))
    found = {
        "mbs": 1,
        "prompts": prompts,
        "n": RESPONSES,
        "gbs": prompts * RESPONSES,
        "tokens": 4096,
        "engine": math.gcd(sizes["gpn"], mesh.facts.get("engine", 1)),
        "rpp": 1,
        "rdp": 1,
        "tied": int(not mesh.facts.get("untied")),
        **{
            symbol: size
            for symbol, size in {"steps": 1, "sampled": prompts}.items()
            if mesh.facts.get(symbol)
        },
    }
    return {**flags.shape(mesh, sizes), **found}


_WHY = {
    "prompts": "a small batch that every rank gets a share of",
    "n": "the fewest responses that can be compared",
    "gbs": "one update a rollout",
    "steps": "one update a rollout",
    "sampled": "as many as are trained on",
    "engine": "the rollout has the GPUs of one node",
    "rpp": "the rollout runs no pipeline",
    "rdp": "one engine a group of GPUs",
}


def targets(plan: Outline) -> Iterator[Target]:
    """Yield everything that a smoke run of slime sets."""
    for key, name in _MODEL.items():
        if plan.text(key) is not None and name in plan.config:
            value = plan.config[name]
            yield Target(key, _number(value), flags.TINY, _equals(value))
    for symbol, why in _WHY.items():
        setting, size = plan.key(symbol), plan.scaled.numbers.get(symbol)
        if setting is not None and size is not None:
            yield Target(setting, str(size), why, plan.between(symbol, size, size))
    yield from _files(plan)
    yield from _ends(plan)


def _equals(value: float) -> Callable[[str | None], bool]:
    def fits(text: str | None) -> bool:
        try:
            return float(text or "") == value
        except ValueError:
            return False

    return fits


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _files(plan: Outline) -> Iterator[Target]:
    for key in ("hf-checkpoint", "ref-load", "load"):
        if key != "load" or plan.text(key) is not None:
            yield Target(key, str(plan.checkpoint), "a tiny random checkpoint")
    yield Target("prompt-data", str(plan.data[0]), "tiny data in the shape of GSM8K")
    yield Target("input-key", "prompt", "what the tiny data calls it")
    yield Target("label-key", "label", "what the tiny data calls it")
    yield Target("rm-type", "math", "the answers are numbers")


def _ends(plan: Outline) -> Iterator[Target]:
    yield Target("num-rollout", str(plan.steps), "enough to see that it learns")
    yield Target("rollout-max-response-len", str(RESPONSE), "a random model has nothing to say")
    yield Target(
        "sglang-mem-fraction-static", "0.2", "trainer and rollout share the GPU, and the model is tiny"
    )
    out = str(plan.folder / "out")
    yield from flags.set_only(plan, "save", out, "what is written all the same is no checkpoint of yours")
    yield from flags.set_only(plan, "save-interval", _NEVER, "no checkpoint is wanted")
    if plan.text("eval-interval") is not None:
        yield Target("eval-interval", _NEVER, "no validation is wanted")
        yield flags.switched_on("skip-eval-before-train", "no validation is wanted")
