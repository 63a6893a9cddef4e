"""Random weights in the layout of the published checkpoints, which is what the loaders of backends read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from example_sanity.core.regex import regex

SEED = 20260101
_FILE = "model.safetensors"


def write(folder: Path, config: dict[str, Any]) -> None:
    """Write ``config.json`` and the weights of a tiny model. Needs torch and transformers.

    transformers makes the model and knows how its modules spell in a published checkpoint (one tensor an expert, the short
    names of DeepSeek-V4); ``config.json`` gets the keys that it drops but loaders read.
    """
    import torch
    import transformers

    torch.manual_seed(SEED)
    known = transformers.AutoConfig.for_model(**config)
    model = getattr(transformers, config["architectures"][0])(known).to(torch.bfloat16)
    _route_by_hash(model)
    model.generation_config = transformers.GenerationConfig(eos_token_id=2, pad_token_id=0)
    model.save_pretrained(folder, max_shard_size="10GB")
    _merge(folder / "config.json", config)
    if config["model_type"] == "deepseek_v4":
        _as_released(folder / _FILE, config)


def _route_by_hash(model: Any) -> None:
    """Spread the tokens of hash-routed layers over the experts; the table is all zeros in a new model."""
    import torch

    for name, table in model.named_buffers():
        if name.endswith("tid2eid"):
            tokens, chosen = table.shape
            experts = model.config.n_routed_experts
            table.copy_((torch.arange(tokens)[:, None] + torch.arange(chosen)[None, :]) % experts)


def _merge(path: Path, config: dict[str, Any]) -> None:
    saved = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(_merged(saved, config), indent=2, sort_keys=True), "utf-8")


def _merged(saved: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return both, ours winning but for rope parameters, of which transformers writes more."""
    found = dict(saved)
    for key, value in ours.items():
        inner = saved.get(key)
        found[key] = {**inner, **value} if isinstance(value, dict) and isinstance(inner, dict) else value
    return found


# Where what transformers writes of DeepSeek-V4 is not how the release spells it: it keeps its own prefix, and cannot tell
# the two norms under one name apart.
_RELEASED = (
    (regex(r"^model\.embed_tokens\."), "embed."),
    (regex(r"^model\.hc_head\.hc_"), "hc_head_"),
    (regex(r"^model\."), ""),
    (regex(r"\.attn\.norm\."), ".attn.kv_norm."),
)


# What the release keeps in 32 bits: hyper-connections, sinks, position biases and the bias of the router.
_WIDE = regex(r"(?:^|\.)hc_\w+$|\.attn_sink$|\.ape$|\.gate\.bias$")


def released_name(name: str) -> str:
    """Return the name of a tensor of DeepSeek-V4 in the release."""
    for pattern, replacement in _RELEASED:
        name = pattern.sub(replacement, name)
    return name


def _as_released(path: Path, config: dict[str, Any]) -> None:
    """Rename the tensors of DeepSeek-V4, and add the layer for multi-token prediction: a copy of the last one."""
    import torch
    from safetensors.torch import load_file, save_file

    tensors = {released_name(name): tensor for name, tensor in load_file(path).items()}
    tensors = {name: value.float() if _WIDE.search(name) else value for name, value in tensors.items()}
    last, hidden = f"layers.{config['num_hidden_layers'] - 1}.", config["hidden_size"]
    copied = {f"mtp.0.{name.removeprefix(last)}": name for name in tensors if name.startswith(last)}
    copied |= {f"mtp.0.{name}": name for name in tensors if name.startswith("hc_head_")}
    added = {name: tensors[source].clone() for name, source in copied.items()}
    for name in ("e_proj", "h_proj"):
        added[f"mtp.0.{name}.weight"] = (torch.randn(hidden, hidden) * 0.02).to(torch.bfloat16)
    for name in ("enorm", "hnorm", "norm"):
        added[f"mtp.0.{name}.weight"] = torch.ones(hidden, dtype=torch.bfloat16)
    save_file({**tensors, **added}, path, metadata={"format": "pt"})
