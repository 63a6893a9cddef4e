"""The versions of what a launcher runs with: those of the Python that it would find."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from example_sanity.doctor import gpus

if TYPE_CHECKING:
    from example_sanity.smoke.plan import SmokePlan

PACKAGES = (
    "torch",
    "transformers",
    "transformer-engine",
    "megatron-core",
    "verl",
    "vllm",
    "sglang",
    "ray",
    "flash-attn",
    "flash-linear-attention",
    "hydra-core",
    "tensordict",
)
_SECONDS = 60
# Asked in the interpreter of the launcher, which need not have this tool.
_QUESTION = """\
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def versions(plan: SmokePlan) -> dict[str, str]:
    """Return the versions of Python, of PACKAGES as far as they are there, and the GPUs; {} where none can be asked."""
    found = _installed({**os.environ, **plan.environment})
    seen = gpus.visible().names
    if seen:
        found["gpu"] = f"{len(seen)} x {seen[0]}"
    return found


def _installed(environment: Mapping[str, str]) -> dict[str, str]:
    try:
        done = subprocess.run(
            ["python3", "-c", _QUESTION, *PACKAGES],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
            cwd="/",  # the current folder stands on the path of python -c
        )
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found
