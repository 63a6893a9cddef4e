"""What is known of a model without loading it: layers, heads, experts. A model that is not known says nothing.

The numbers of the table below are those of the models' published configurations, as the trainers write them down:
S is slime ``scripts/models``, M Megatron-LM ``examples/moe_recipes``, L Megatron Lite ``model/*/config.py``, T the
configuration classes of transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

import msgspec

from example_sanity.core.regex import regex
from example_sanity.parallel.constraint import Sizes
from example_sanity.parallel.keys import whole_number

# Symbols of a model. mla, gdn, dsa and dsv4 are 1 for a model with multi-latent attention, gated delta nets, sparse
# attention in the DeepSeek way, or the DeepSeek-V4 block, and 0 for any other. rope is the base of the rotary embeddings,
# tied 1 where the input embedding is the output layer, too; no table has those, nor the widths ffn and moe_ffn.
_COUNTS = ("layers", "heads", "kv", "experts", "topk", "mtp", "hidden", "positions", "linear_k", "linear_v")
SYMBOLS = (*_COUNTS, "ffn", "moe_ffn", "rope", "tied")
KINDS = ("mla", "gdn", "dsa", "dsv4")

# name, layers, heads, KV heads, experts, top-k, MTP layers, hidden size, kinds, source; - where it is not known.
_TABLE = """
DeepSeek-V4-Flash  43  64   1 256  6  1 4096 dsv4    L
DeepSeek-V4-Pro    61 128   - 384  6  1 7168 dsv4    M
DeepSeek-V3        61 128 128 256  8  1 7168 mla     S
DeepSeek-V3.1      61 128 128 256  8  1 7168 mla     S
DeepSeek-R1        61 128 128 256  8  1 7168 mla     S
GLM-5              78  64  64 256  8  1 6144 mla,dsa L
GLM-5.1            78  64  64 256  8  - 6144 mla,dsa S
GLM-4.7-Flash      47  20  20  64  4  -  2048 mla    S
GLM-4.5            92  96   8 160  8  -  5120 -      S
GLM-4.5-Air        46  96   8 128  8  -  4096 -      S
GLM-Z1-9B-0414     40  32   2   0  0  0  4096 -      S
Kimi-K2            61  64  64 384  8  0 7168 mla     L
Kimi-K2-Thinking   61  64  64 384  8  0 7168 mla     S
Kimi-K2.5          61  64  64 384  8  0 7168 mla     S
Moonlight-16B-A3B  27  16  16  64  6  -  2048 mla    S
MiniMax-M2         62  48   8 256  8  -  3072 -      S
MiMo-7B-RL         36  32   8   0  0  1  4096 -      S
Qwen3.5-35B-A3B    40  16   2 256  8  1  2048 gdn    L
Qwen3.5-27B        64  24   4   0  0  -  5120 gdn    S
Qwen3.5-9B         32  16   4   0  0  -  4096 gdn    S
Qwen3.5-4B         32  16   4   0  0  -  2560 gdn    S
Qwen3.5-0.8B       24   8   2   0  0  -  1024 gdn    S
Qwen3-Next-80B-A3B 48  16   2 512 10  -  2048 gdn    S
Qwen3-235B-A22B    94  64   4 128  8  0  4096 -      S
Qwen3-30B-A3B      48  32   4 128  8  0  2048 -      S
Qwen3-32B          64  64   8   0  0  0  5120 -      S
Qwen3-14B          40  40   8   0  0  0  5120 -      S
Qwen3-8B           36  32   8   0  0  0  4096 -      S
Qwen3-4B           36  32   8   0  0  0  2560 -      S
Qwen3-1.7B         28  16   8   0  0  0  2048 -      S
Qwen3-0.6B         28  16   8   0  0  0  1024 -      S
Qwen2.5-32B        64  40   8   0  0  0  5120 -      S
Qwen2.5-7B         28  28   4   0  0  0  3584 -      S
Qwen2.5-3B         36  16   2   0  0  0  2048 -      S
Qwen2.5-1.5B       28  12   2   0  0  0  1536 -      S
Qwen2.5-0.5B       24  14   2   0  0  0   896 -      S
Llama-3.1-8B       32  32   8   0  0  0  4096 -      S
Llama-3.2-3B       28  24   8   0  0  0  3072 -      S
"""
_SOURCES = {
    "S": "slime scripts/models",
    "M": "Megatron-LM examples/moe_recipes",
    "L": "Megatron Lite model/*/config.py",
}
_LINEAR = {"qwen3.5-35b-a3b": {"linear_k": 16, "linear_v": 32}}

# What follows the name of a model whose shape is the same: tuned, dated or quantised releases, converted copies.
_VARIANT = regex(
    r"(?:-(?:instruct|base|chat|thinking|it|fp8|bf16|int4|int8|awq|2507|0528|hf|torch-dist|mcore))+"
)


class ModelFacts(msgspec.Struct, frozen=True):
    """The numbers of one model by symbol, and where they are from."""

    name: str
    numbers: Sizes
    source: str


class Models:
    """The models that are known: the shipped table and what a configuration adds to it.

    ``added`` maps a name to its numbers by symbol and wins over the table. Raises ValueError for a symbol that no
    model has.
    """

    def __init__(self, added: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self._added = added or {}
        for name, numbers in self._added.items():
            for symbol in numbers:
                if symbol not in (*SYMBOLS, *KINDS):
                    raise ValueError(
                        f"{symbol!r} of model {name!r} is none of {', '.join((*SYMBOLS, *KINDS))}"
                    )

    def lookup(self, name: str) -> ModelFacts | None:
        """Return the model of a hub id or a path, ``Qwen/Qwen3-8B`` or ``/models/Qwen3-8B-Base/``, or None."""
        last = re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower().replace("_", "-")
        if last in self._known:
            return self._known[last]
        stem = next((key for key in self._stems if last.startswith(f"{key}-")), None)
        return self._known[stem] if stem and _VARIANT.fullmatch(last[len(stem) :]) else None

    @cached_property
    def _known(self) -> Mapping[str, ModelFacts]:
        shipped = (_row(line.split()) for line in _TABLE.strip().splitlines())
        known = {facts.name.lower(): facts for facts in shipped}
        for name, numbers in self._added.items():
            known[name.lower().replace("_", "-")] = ModelFacts(name, dict(numbers), "the configuration")
        return known

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return tuple(sorted(self._known, key=len, reverse=True))


def from_config(data: Mapping[str, object], name: str, source: str = "config.json") -> ModelFacts | None:
    """Return the facts of a Hugging Face ``config.json``, or None when it describes no decoder.

    Of a multimodal model the language model counts.
    """
    text = data.get("text_config")
    inner: Mapping[str, object] = text if isinstance(text, Mapping) else data
    numbers: dict[str, int] = {}
    for symbol, spellings in _CONFIG_KEYS.items():
        found = (whole_number(inner.get(spelling)) for spelling in spellings)
        if (size := next((number for number in found if number is not None), None)) is not None:
            numbers[symbol] = size
    if "layers" not in numbers or "heads" not in numbers:
        return None
    numbers |= _further(inner)
    kinds = _kinds(str(inner.get("model_type", "")), inner)
    if kinds["mla"]:
        numbers["kv"] = numbers[
            "heads"
        ]  # one latent vector serves all heads; the number in the file splits nothing
    return ModelFacts(name, {"kv": numbers["heads"], "experts": 0, **numbers, **kinds}, source)


def _further(config: Mapping[str, object]) -> dict[str, int]:
    """The base of rotary embeddings where it is whole, and tied embeddings where the file says so itself."""
    nested = config.get("rope_parameters")
    base = nested.get("rope_theta") if isinstance(nested, Mapping) else None
    base = config.get("rope_theta") if base is None else base
    found: dict[str, int] = {}
    if isinstance(base, (int, float)) and not isinstance(base, bool) and base == int(base):
        found["rope"] = int(base)
    if isinstance(tied := config.get("tie_word_embeddings"), bool):
        found["tied"] = int(tied)
    return found


_CONFIG_KEYS: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "kv": ("num_key_value_heads",),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts"),
    "topk": ("num_experts_per_tok",),
    "mtp": ("num_nextn_predict_layers", "mtp_num_hidden_layers"),
    "hidden": ("hidden_size",),
    "positions": ("max_position_embeddings",),
    "linear_k": ("linear_num_key_heads",),
    "linear_v": ("linear_num_value_heads",),
    "ffn": ("intermediate_size",),
    "moe_ffn": ("moe_intermediate_size",),
}


def _kinds(model_type: str, config: Mapping[str, object]) -> dict[str, int]:
    dsv4 = model_type == "deepseek_v4"
    return {
        "mla": int("kv_lora_rank" in config and not dsv4),
        "gdn": int("linear_num_value_heads" in config),
        "dsa": int(model_type in {"deepseek_v32", "glm_moe_dsa"}),
        "dsv4": int(dsv4),
    }


def _row(cells: list[str]) -> ModelFacts:
    name, *counts, kinds, source = cells
    numbers = {symbol: int(count) for symbol, count in zip(SYMBOLS, counts, strict=False) if count != "-"}
    flags = {kind: int(kind in kinds.split(",")) for kind in KINDS}
    return ModelFacts(name, {**numbers, **_LINEAR.get(name.lower(), {}), **flags}, _SOURCES[source])
