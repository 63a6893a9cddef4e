"""What is known of models, by name and by configuration."""

from __future__ import annotations

import pytest

from example_sanity.parallel.models import KINDS, SYMBOLS, Models, from_config

SHIPPED = Models()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "$MODEL_PATH",
        "<unknown>",
        "my-model",
        "Qwen3-8B-5layers",
        "Qwen3-8B-MoE",
        "deepseek-v3-20layer",
        "Qwen3",
        "/models/Qwen3-8B/snapshots/main",
        "Qwen3-80B",
        "Kimi-K2.6",
    ],
)
def test_an_unknown_name_says_nothing(name: str) -> None:
    assert SHIPPED.lookup(name) is None


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Qwen/Qwen3-8B", "Qwen3-8B"),
        ("/models/Qwen3-8B/", "Qwen3-8B"),
        ("C:\\models\\qwen3-8b", "Qwen3-8B"),
        ("Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B"),
        ("Qwen/Qwen3-30B-A3B-Base", "Qwen3-30B-A3B"),
        ("/root/Qwen3-4B_torch_dist", "Qwen3-4B"),
        ("deepseek-ai/DeepSeek-V3-0324", None),
        ("deepseek-ai/DeepSeek-R1-0528", "DeepSeek-R1"),
        ("moonshotai/Kimi-K2-Instruct", "Kimi-K2"),
        ("moonshotai/Kimi-K2-Thinking", "Kimi-K2-Thinking"),
        ("zai-org/GLM-4.5-Air-FP8", "GLM-4.5-Air"),
    ],
)
def test_a_known_name(name: str, known: str | None) -> None:
    found = SHIPPED.lookup(name)
    assert (found.name if found else None) == known


# Model, layers, heads, KV heads, experts, hidden size, kind.
FAMILIES = [
    ("DeepSeek-V4-Flash", 43, 64, 1, 256, 4096, "dsv4"),
    ("DeepSeek-V4-Pro", 61, 128, None, 384, 7168, "dsv4"),
    ("GLM-5", 78, 64, 64, 256, 6144, "mla"),
    ("GLM-5.1", 78, 64, 64, 256, 6144, "mla"),
    ("Kimi-K2", 61, 64, 64, 384, 7168, "mla"),
    ("Kimi-K2.5", 61, 64, 64, 384, 7168, "mla"),
    ("Qwen3.5-35B-A3B", 40, 16, 2, 256, 2048, "gdn"),
    ("Qwen3-30B-A3B", 48, 32, 4, 128, 2048, None),
    ("Qwen3-8B", 36, 32, 8, 0, 4096, None),
    ("DeepSeek-V3", 61, 128, 128, 256, 7168, "mla"),
]


@pytest.mark.parametrize(("name", "layers", "heads", "kv", "experts", "hidden", "kind"), FAMILIES)
def test_the_families(
    name: str, layers: int, heads: int, kv: int | None, experts: int, hidden: int, kind: str | None
) -> None:
    found = SHIPPED.lookup(name)
    assert found is not None
    numbers = found.numbers
    assert (numbers["layers"], numbers["heads"], numbers.get("kv")) == (layers, heads, kv)
    assert (numbers["experts"], numbers["hidden"]) == (experts, hidden)
    assert kind is None or numbers[kind] == 1
    assert found.source


def test_every_row_is_plausible() -> None:
    for facts in SHIPPED._known.values():
        numbers = facts.numbers
        assert set(numbers) <= {*SYMBOLS, *KINDS}
        assert numbers["heads"] % numbers.get("kv", 1) == 0
        assert 0 <= numbers["topk"] <= numbers["experts"]
        assert all(numbers[kind] in (0, 1) for kind in KINDS)


def test_a_configuration_adds_models_and_corrects_them() -> None:
    models = Models({"My_Model": {"layers": 12, "heads": 8}, "Qwen3-8B": {"layers": 4}})
    mine, corrected = models.lookup("org/my-model-fp8"), models.lookup("Qwen3-8B")
    assert mine is not None
    assert corrected is not None
    assert (mine.numbers, mine.source) == ({"layers": 12, "heads": 8}, "the configuration")
    assert corrected.numbers == {"layers": 4}
    with pytest.raises(ValueError, match="'layer' of model 'x' is none of layers"):
        Models({"x": {"layer": 3}})


DENSE = {"model_type": "qwen3", "num_hidden_layers": 36, "num_attention_heads": 32, "hidden_size": 4096}


def test_the_facts_of_a_configuration_file() -> None:
    dense = from_config({**DENSE, "num_key_value_heads": 8, "max_position_embeddings": 40960}, "a")
    assert dense is not None
    assert dense.numbers == {
        "layers": 36,
        "heads": 32,
        "kv": 8,
        "hidden": 4096,
        "positions": 40960,
        "experts": 0,
        **dict.fromkeys(KINDS, 0),
    }
    no_groups = from_config(DENSE, "a")
    assert no_groups is not None
    assert no_groups.numbers["kv"] == 32


def test_the_kinds_of_a_configuration_file() -> None:
    latent = {**DENSE, "kv_lora_rank": 512, "num_key_value_heads": 2, "n_routed_experts": 256}
    for config, kind, kv in (
        ({**latent, "model_type": "deepseek_v3"}, "mla", 32),
        ({**latent, "model_type": "glm_moe_dsa"}, "dsa", 32),
        ({**DENSE, "model_type": "deepseek_v4", "num_key_value_heads": 1}, "dsv4", 1),
        ({**DENSE, "linear_num_value_heads": 32, "linear_num_key_heads": 16}, "gdn", 32),
    ):
        facts = from_config(config, "a")
        assert facts is not None
        assert (facts.numbers[kind], facts.numbers["kv"]) == (1, kv)


def test_of_a_multimodal_model_the_text_counts() -> None:
    facts = from_config({"text_config": DENSE, "vision_config": {"num_hidden_layers": 2}}, "a")
    assert facts is not None
    assert facts.numbers["layers"] == 36


@pytest.mark.parametrize(
    "config", [{}, {"num_hidden_layers": 3}, {"text_config": None}, {"vision_config": DENSE}]
)
def test_what_is_no_decoder(config: dict[str, object]) -> None:
    assert from_config(config, "a") is None
