"""Configurations of tiny models: what a mesh splits divides, whatever the sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.parallel.models import from_config
from example_sanity.smoke.checkpoints.configs import CONFIGS
from example_sanity.smoke.checkpoints.tokenizer import SIZE, SPECIAL

_SIZE = st.sampled_from((1, 2, 3, 4, 8))
_WIDE = {"deepseek_v4": 1, "glm5": 1}  # no tensor parallelism in the backend that trains them


@pytest.mark.parametrize("family", CONFIGS)
@given(tp=_SIZE, pp=_SIZE, cp=_SIZE, ep=_SIZE, rtp=_SIZE)
def test_every_split_divides(family: str, tp: int, pp: int, cp: int, ep: int, rtp: int) -> None:
    tp = _WIDE.get(family, tp)
    config = CONFIGS[family]({"tp": tp, "pp": pp, "cp": cp, "ep": ep, "rtp": rtp})
    facts = from_config(config, family)
    assert facts is not None
    numbers = facts.numbers

    assert numbers["heads"] % tp == 0
    assert family == "deepseek_v4" or numbers["kv"] % tp == 0
    assert numbers["layers"] % pp == 0
    assert numbers["layers"] >= 2
    assert numbers["experts"] % ep == 0
    if numbers["gdn"]:
        assert numbers["linear_k"] // tp % cp == 0
        assert numbers["linear_v"] // tp % cp == 0


@pytest.mark.parametrize("family", CONFIGS)
def test_the_smallest_are_small(family: str) -> None:
    facts = from_config(CONFIGS[family]({}), family)

    assert facts is not None
    assert facts.numbers["layers"] == 2
    assert facts.numbers["hidden"] <= 256
    assert facts.numbers["experts"] in (0, 8)


def test_loaders_find_the_keys_that_transformers_drops() -> None:
    assert CONFIGS["qwen3_moe"]({"ep": 16})["num_experts"] == 16
    assert CONFIGS["qwen3_moe"]({})["rope_theta"] == 10000.0
    v4 = CONFIGS["deepseek_v4"]({"pp": 4})
    assert (v4["compress_ratios"], v4["num_hash_layers"], v4["num_nextn_predict_layers"]) == ([4] * 4, 1, 1)
    assert v4["mlp_layer_types"] == ["hash_moe", "moe", "moe", "moe"]


def test_special_tokens_are_where_the_configurations_say() -> None:
    config = CONFIGS["qwen3_5_moe"]({})

    assert SPECIAL[config["eos_token_id"]] == "<|im_end|>"
    assert SPECIAL[config["pad_token_id"]] == "<|endoftext|>"
    assert SPECIAL[config["image_token_id"]] == "<|image_pad|>"
    assert SPECIAL[config["vision_end_token_id"]] == "<|vision_end|>"
    assert config["text_config"]["vocab_size"] >= SIZE
