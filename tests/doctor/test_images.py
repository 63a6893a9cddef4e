"""Dockerfiles: pip lines, and versions in ARG and ENV."""

from __future__ import annotations

import pytest

from example_sanity.doctor.images import image, is_dockerfile

KNOWN = {"vllm", "torch", "sglang", "flash-attn"}


def rows(text: str) -> list[tuple[int, str, str, str | None]]:
    found = list(image("Dockerfile", text, KNOWN, held=True))
    assert not any(item.present for item in found)
    return [(item.place.line, item.name, str(item.window), item.reference) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "FROM a:1.2\nARG CUDA_VERSION=13.0.2\nENV PIP_NO_CACHE_DIR=1\n",
        "RUN pip install -r requirements.txt && pip install -e .\n",
        "RUN pip install vllm==${UNKNOWN}\n",
        "ARG VLLM_VERSION\nARG TORCH_VERSION=\nARG SGLANG_TAG=${X}\n",
        "# RUN pip install vllm==0.8\n",
        "RUN apt-get install vllm==0.8\n",
    ],
)
def test_what_asks_for_nothing(text: str) -> None:
    assert rows(text) == []


def test_pip_lines_with_their_variables() -> None:
    text = (
        "ARG VLLM_VERSION=0.8.5\n"
        'ENV TORCH_VERSION="2.7.1"\n'
        "RUN apt-get update && \\\n"
        "    # the engine\n"
        "    pip install --no-cache-dir vllm==${VLLM_VERSION} 'numpy<2'; \\\n"
        "    uv pip install --system torch==$TORCH_VERSION\n"
    )

    assert rows(text) == [
        (3, "vllm", "==0.8.5", None),
        (3, "numpy", "<2", None),
        (3, "torch", "==2.7.1", None),
    ]


def test_arguments_count_where_no_pip_line_says_the_same() -> None:
    text = (
        "ARG SGLANG_IMAGE_TAG=v0.5.15.post1-cu129\nARG FLASH_ATTENTION_COMMIT=002cce0a1068\nARG VLLM_VERSION=0.8\n"
        "ARG TORCH_VERSION_OR_BRANCH=r2.7\nARG OTHER_VERSION=1.0\nRUN pip install vllm==0.9\n"
    )

    assert rows(text) == [
        (6, "vllm", "==0.9", None),
        (1, "sglang", "==v0.5.15.post1", None),
        (2, "flash-attn", "", "002cce0a1068"),
        (4, "torch", "", "r2.7"),
    ]


@pytest.mark.parametrize(
    "path",
    ["Dockerfile", "docker/Dockerfile.rocm", "a/Dockerfile_2025.rocm", "x/app.Dockerfile", "Containerfile"],
)
def test_what_is_a_dockerfile(path: str) -> None:
    assert is_dockerfile(path)


@pytest.mark.parametrize("path", ["docs/dockerfile_guide.rst", "dockerfiles/readme.md", "docker/build.sh"])
def test_what_is_none(path: str) -> None:
    assert not is_dockerfile(path)


def test_a_repository_that_is_cloned_and_put_at_a_commit() -> None:
    text = (
        "ARG COMMIT=641a5a0\n"
        "RUN git clone https://example.invalid/a/verl.git && cd verl && git checkout ${COMMIT} && pip install -e .\n"
        "RUN git clone https://example.invalid/a/slime /root/slime && cd /root/slime/ && git checkout v0.2.1\n"
    )

    assert rows(text) == [(2, "verl", "", "641a5a0"), (3, "slime", "==v0.2.1", None)]


@pytest.mark.parametrize(
    "commands",
    [
        "git clone https://example.invalid/a/verl.git && cd verl && git checkout main",
        "git clone https://example.invalid/a/verl.git && cd verl && git checkout ${UNKNOWN}",
        "cd verl && git checkout 641a5a0",  # whose checkout that is, nobody says
        "git clone https://example.invalid/a/verl.git && cd other && git checkout 641a5a0",
    ],
)
def test_a_checkout_that_pins_nothing_known(commands: str) -> None:
    assert rows(f"RUN {commands}\n") == []
