"""Families by name."""

from __future__ import annotations

import pytest

from example_sanity.smoke import families


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen3-0.6B-Base", "qwen3"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3_moe"),
        ("/models/Qwen3-235B-A22B/", "qwen3_moe"),
        ("Qwen/Qwen3.5-35B-A3B", "qwen3_5_moe"),
        ("examples/grpo_trainer/run_qwen3_5_35b_megatron_lite.sh", "qwen3_5_moe"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2"),
        ("Qwen/Qwen2-7B-Instruct", "qwen2"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen2"),
        ("deepseek-ai/DeepSeek-V3-Base", "kimi_k2"),
        ("moonshotai/Kimi-K2.6", "kimi_k2"),
        ("run_kimi_k2_6_glm5_1_megatron_lite.sh", "glm5"),
        ("zai-org/GLM-5.1", "glm5"),
        ("deepseek-ai/DeepSeek-V4-Flash", "deepseek_v4"),
        ("meta-llama/Llama-3.1-8B", "llama"),
        ("deepseek-ai/deepseek-llm-7b-chat", "llama"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", None),
        ("Qwen/Qwen3-VL-30B-A3B", None),
        ("Qwen/Qwen3-Next-80B-A3B", None),
        ("Qwen/Qwen3.5-9B", None),
        ("google/gemma-2-2b-it", None),
        ("placeholder-MODEL_PATH", None),
        ("", None),
    ],
)
def test_a_name_tells_its_family(name: str, family: str | None) -> None:
    assert families.named(name) == family


def test_the_first_name_that_tells_one_counts() -> None:
    assert families.first_named(["experiment", "Qwen3-8B", "Llama-3"]) == "qwen3"
    assert families.first_named([]) is None
