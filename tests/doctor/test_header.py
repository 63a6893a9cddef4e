"""What the comment at the top of a launcher asks for."""

from __future__ import annotations

import pytest

from example_sanity.doctor.header import header, platform_of

KNOWN = {"vllm", "torch", "transformers", "numpy"}


def rows(text: str) -> list[str]:
    found = header("run.sh", text, KNOWN, {"TP", "vllm"} if "vllm=${" in text else {"TP"})
    return [
        f"{item.place.line} {item.name}{item.window}"
        + (f" @ {item.reference}" if item.reference else "")
        + (f" ({item.platform})" if item.platform else "")
        for item in found
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "# Qwen3-30B with 8 GPUs, TP=2, lr 1e-6",
        "# clip_ratio==0.2 and epsilon>=0.28",
        "# world % (tp*cp*pp) == 0, ep >= 2",
        "# requires TP==1",
        "# see https://example.invalid/x==1.2.3",
        "# CUDA 12.4 on Hopper 9.0",
        "# tested 2025.01.02 with rollout 0.8",
        "# data.x=vllm",
    ],
)
def test_arithmetic_and_prose_ask_for_nothing(comment: str) -> None:
    assert rows(f"#!/usr/bin/env bash\n{comment}\nset -e\n") == []


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# requires vllm>=0.8", ["vllm>=0.8"]),
        ("# vllm >= 0.8, < 0.9 works", ["vllm<0.9,>=0.8"]),
        ("# DSA needs nvidia-cutlass-dsl==4.5.2 and nvidia-cudnn-frontend.", ["nvidia-cutlass-dsl==4.5.2"]),
        ("#   - veomni==0.1.9a1", ["veomni==0.1.9a1"]),
        ("#   - Megatron-LM==core_v0.18.0", ["megatron-core @ core_v0.18.0"]),
        ("# dependency: vllm==0.18.0, transformers@<cc7ab9be>", ["vllm==0.18.0", "transformers @ cc7ab9be"]),
        ("#   pip install -U 'numpy<2' flash-linear-attention", ["numpy<2", "flash-linear-attention"]),
        ("#   MAX_JOBS=32 uv pip install torch==2.6.0", ["torch==2.6.0"]),
        ("# All of them need flash-linear-attention 5.0, which", ["flash-linear-attention @ 5.0"]),
        ("# Requires: transformers>=5.3.0, torchao", ["transformers>=5.3.0"]),
    ],
)
def test_what_is_asked_for(comment: str, expected: list[str]) -> None:
    assert rows(f"#!/bin/bash\n{comment}\n") == [f"2 {item}" for item in expected]


def test_only_the_top_of_the_file_is_the_header() -> None:
    assert rows("# requires vllm>=0.8\n\n# torch==2.6.0\nset -e\n# numpy<2\n") == [
        "1 vllm>=0.8",
        "3 torch==2.6.0",
    ]


def test_a_label_holds_for_the_lines_below_it() -> None:
    text = """\
# Requirements:
#   - somelib==0.7
# Requirements on Ascend:
#   - 8 NPUs
#   - Additional packages:
#       pip install decorator
#   - vllm==0.13.0
# Tested:
#   - torch==2.6.0
#
# For ROCm:
#   torch==2.5.0
#
# torch==2.7.0
"""

    assert rows(text) == [
        "2 somelib==0.7",
        "6 decorator (npu)",
        "7 vllm==0.13.0 (npu)",
        "9 torch==2.6.0",
        "12 torch==2.5.0 (rocm)",
        "14 torch==2.7.0",
    ]


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("dependency: NPU vllm", "npu"),
        ("on AMD", "rocm"),
        ("GPU or NPU", None),
        ("nothing", None),
        ("CUDA 12", "gpu"),
    ],
)
def test_the_platform_that_a_text_names(text: str, platform: str | None) -> None:
    assert platform_of(text) == platform
