"""What the tests of the pytest plugin share: a small repository, and how pytest finds the plugin."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

INSTALLED = any(entry.name == "example_sanity" for entry in metadata.entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", "example_sanity.pytest_plugin")

CLEAN = "python3 train.py\n"
FILES = {
    "pyproject.toml": "[tool.example-sanity]\npreset = 'verl'\nignore = ['sources', 'SHL007']\n",
    "examples/ppo/run_qwen3_fsdp.sh": CLEAN,
    "examples/ppo/run_qwen3_vllm_fsdp.sh": CLEAN,
    "tests/test_a.py": "def test_a(): pass\n",
}
Repository = Callable[..., Path]
Run = Callable[..., pytest.RunResult]
