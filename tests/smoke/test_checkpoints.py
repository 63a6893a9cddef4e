"""Tiny checkpoints: where they lie, and with torch and transformers that they load again and give finite numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.smoke import data
from example_sanity.smoke.checkpoints import processor, store, tokenizer
from example_sanity.smoke.checkpoints.configs import CONFIGS
from example_sanity.smoke.checkpoints.weights import released_name


def test_a_checkpoint_lies_where_its_content_says(tmp_path: Path) -> None:
    small, other = CONFIGS["kimi_k2"]({}), CONFIGS["kimi_k2"]({"ep": 16})

    assert store.location(tmp_path, "kimi_k2", small) == store.location(tmp_path, "kimi_k2", dict(small))
    assert store.location(tmp_path, "kimi_k2", small) != store.location(tmp_path, "kimi_k2", other)
    assert store.location(tmp_path, "kimi_k2", small).name.startswith("kimi_k2-")


def test_one_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "kimi_k2-1"
    path.mkdir()
    store.make(path, {})

    assert list(path.iterdir()) == []


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(UsageError, match=r"takes torch: install example-sanity\[smoke\]"):
        store.make(tmp_path / "llama-1", CONFIGS["llama"]({}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "released"),
    [
        ("model.embed_tokens.weight", "embed.weight"),
        ("head.weight", "head.weight"),
        ("model.norm.weight", "norm.weight"),
        ("model.hc_head.hc_fn", "hc_head_fn"),
        ("model.layers.1.attn.norm.weight", "layers.1.attn.kv_norm.weight"),
        ("model.layers.1.attn.q_norm.weight", "layers.1.attn.q_norm.weight"),
        ("model.layers.0.attn.compressor.norm.weight", "layers.0.attn.compressor.norm.weight"),
        ("model.layers.0.ffn.experts.3.w1.weight", "layers.0.ffn.experts.3.w1.weight"),
    ],
)
def test_tensors_of_deepseek_v4_are_named_as_in_the_release(name: str, released: str) -> None:
    assert released_name(name) == released


def test_the_tokenizer_knows_its_special_tokens_and_gives_a_text_back(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer.write(tmp_path, data.texts())
    made = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    text = "Ada has 3 apples. ünïcode\n<|im_end|>"

    assert [made.token_to_id(token) for token in tokenizer.SPECIAL] == list(range(len(tokenizer.SPECIAL)))
    assert made.decode(made.encode(text).ids, skip_special_tokens=False) == text
    assert made.get_vocab_size() <= tokenizer.SIZE
    longest = max(len(made.encode(row["prompt"][0]["content"]).ids) for row in data.rows("rl", "train"))
    assert longest < 40


def test_a_vision_tower_has_its_files_and_other_models_have_none(tmp_path: Path) -> None:
    processor.write(tmp_path, CONFIGS["qwen3"]({}))
    assert list(tmp_path.iterdir()) == []

    processor.write(tmp_path, CONFIGS["qwen3_5_moe"]({}))
    image = json.loads((tmp_path / "preprocessor_config.json").read_text("utf-8"))
    assert (image["patch_size"], image["merge_size"], image["temporal_patch_size"]) == (16, 2, 2)
    assert (tmp_path / "video_preprocessor_config.json").is_file()


@pytest.mark.models
@pytest.mark.parametrize("family", CONFIGS)
def test_a_checkpoint_loads_again_and_gives_finite_numbers(family: str, tmp_path: Path) -> None:
    import torch
    import transformers

    config = CONFIGS[family]({"ep": 2, "tp": 2, "pp": 2})
    path = store.location(tmp_path, family, config)
    store.make(path, config)
    vision = "vision_config" in config
    kind: Any = transformers.AutoModelForImageTextToText if vision else transformers.AutoModelForCausalLM
    model, report = kind.from_pretrained(path, dtype=torch.float32, output_loading_info=True)
    words = transformers.AutoTokenizer.from_pretrained(path)
    turns = data.rows("rl", "train", 1)[0]["prompt"]
    ids = words.apply_chat_template(turns, add_generation_prompt=True, return_tensors="pt", return_dict=True)

    assert not report["missing_keys"]
    assert not report["mismatched_keys"]
    assert not report["unexpected_keys"]
    with torch.no_grad():
        logits = model(input_ids=ids["input_ids"]).logits
    assert logits.shape[-1] == 1024
    assert bool(torch.isfinite(logits).all())
    assert words.eos_token == "<|im_end|>"
    conversation = data.rows("sft", "train", 1)[0]["messages"]
    apart = [words.apply_chat_template([turn], tokenize=True, return_dict=False) for turn in conversation]
    joined = [word for part in apart for word in part]
    assert joined == words.apply_chat_template(conversation, tokenize=True, return_dict=False)
    parts = [{**turn, "content": [{"type": "text", "text": turn["content"]}]} for turn in conversation]
    assert joined == words.apply_chat_template(parts, tokenize=True, return_dict=False)
    saved = json.loads((path / "config.json").read_text("utf-8"))
    assert {name: saved[name] for name in ("model_type", "architectures")} == {
        name: config[name] for name in ("model_type", "architectures")
    }


# What the loaders of Megatron Lite ask for by name (experimental/lite/megatron/lite/model/*/lite/checkpoint.py).
_ASKED = {
    "deepseek_v4": (
        "embed.weight",
        "head.weight",
        "hc_head_fn",
        "layers.0.ffn.gate.tid2eid",
        "layers.1.ffn.gate.bias",
        "layers.1.attn.kv_norm.weight",
        "layers.1.attn.attn_sink",
        "layers.1.attn.indexer.compressor.ape",
        "layers.1.ffn.experts.7.w3.weight",
        "layers.1.hc_ffn_scale",
        "mtp.0.e_proj.weight",
        "mtp.0.hc_head_base",
        "mtp.0.ffn.experts.0.w2.weight",
    ),
    "glm5": (
        "model.layers.0.mlp.gate_proj.weight",
        "model.layers.1.self_attn.indexer.k_norm.bias",
        "model.layers.1.mlp.experts.7.up_proj.weight",
        "model.layers.1.mlp.shared_experts.down_proj.weight",
        "lm_head.weight",
    ),
    "kimi_k2": (
        "model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
        "model.layers.1.mlp.gate.e_score_correction_bias",
        "model.layers.1.mlp.experts.0.gate_proj.weight",
        "lm_head.weight",
    ),
    "qwen3_5_moe": (
        "model.language_model.layers.0.linear_attn.in_proj_qkv.weight",
        "model.language_model.layers.1.self_attn.q_proj.weight",
        "model.language_model.layers.1.mlp.shared_expert_gate.weight",
        "model.language_model.layers.1.mlp.experts.7.down_proj.weight",
        "lm_head.weight",
    ),
    "qwen3_moe": ("model.layers.1.mlp.experts.7.gate_proj.weight", "model.layers.1.self_attn.k_norm.weight"),
}


@pytest.mark.models
@pytest.mark.parametrize("family", _ASKED)
def test_a_checkpoint_has_the_tensors_that_megatron_lite_reads(family: str, tmp_path: Path) -> None:
    from safetensors import safe_open

    config = CONFIGS[family]({})
    path = store.location(tmp_path, family, config)
    store.make(path, config)
    with safe_open(path / "model.safetensors", "pt") as tensors:
        names = set(tensors.keys())

    assert set(_ASKED[family]) <= names
