"""Which family of models a launcher trains, told by the names that it uses."""

from __future__ import annotations

from collections.abc import Iterable

from example_sanity.core.regex import regex
from example_sanity.smoke.checkpoints.configs import CONFIGS

FAMILIES = tuple(CONFIGS)

# In order: the first that fits wins. Models that see images, audio or use other blocks have no tiny checkpoint.
_NONE = regex(r"vl(?![a-z])|omni|audio|qwen3-?next|coder-next")
_NAMES = (
    ("deepseek_v4", regex(r"deepseek-?v4|(?<![a-z])dsv4|(?<![a-z])ds4")),
    ("glm5", regex(r"glm-?5|glm-moe-dsa")),
    ("kimi_k2", regex(r"kimi-?k2|deepseek-?(?:v3|r1(?!-distill))|moonlight")),
    ("qwen3_5_moe", regex(r"qwen3[.-]?5-(?:\d+b-a\d+b|35b|122b|397b|moe)")),
    ("qwen3_moe", regex(r"qwen3-(?:\d+b-a\d+|moe|30b|235b)|qwen3-?moe")),
    ("qwen3", regex(r"qwen3(?![.-]?5)(?:-|$)")),
    ("qwen2", regex(r"qwen2(?:[.-]?5)?(?:-|$)|deepseek-r1-distill-qwen")),
    ("llama", regex(r"llama|deepseek-(?:llm|math|coder)|tulu")),
)
_TYPES = {
    "deepseek_v4": "deepseek_v4",
    "glm_moe_dsa": "glm5",
    "deepseek_v3": "kimi_k2",
    "kimi_k2": "kimi_k2",
    "qwen3_5_moe": "qwen3_5_moe",
    "qwen3_moe": "qwen3_moe",
    "qwen3": "qwen3",
    "qwen2": "qwen2",
    "llama": "llama",
}


def named(text: str) -> str | None:
    """Return the family that a model id, a path or a file name speaks of, or None."""
    last = text.rstrip("/").rpartition("/")[2].lower().replace("_", "-").removesuffix(".sh")
    if _NONE.search(last):
        return None
    return next((family for family, pattern in _NAMES if pattern.search(last)), None)


def typed(model_type: str) -> str | None:
    """Return the family of ``model_type`` in a ``config.json``, or None."""
    return _TYPES.get(model_type)


def first_named(texts: Iterable[str]) -> str | None:
    """Return the family of the first text that speaks of one."""
    return next((family for text in texts if (family := named(text)) is not None), None)
