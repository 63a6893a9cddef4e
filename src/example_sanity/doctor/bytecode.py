"""Large packages without .pyc files: each process that imports them compiles them anew, until one has written some.

pip writes them when it installs, uv only with ``--compile-bytecode`` (its docs, "Bytecode compilation"). Measured with GRPO on verl,
some 25 processes: 240 s to the start of vLLM without them, 82 s with them.
"""

from __future__ import annotations

import os
from pathlib import Path

from example_sanity.doctor.environment import Environment

# What training imports, and has much of.
_PACKAGES = (
    *("torch", "triton", "transformers", "vllm", "sglang", "ray", "verl", "megatron", "transformer_engine"),
    *("flashinfer", "fla", "datasets", "accelerate", "peft", "deepspeed", "tensordict", "numpy", "scipy"),
)
_FEWEST = 50


def uncompiled(environment: Environment) -> dict[str, Path]:
    """Return the large packages most of whose modules have no .pyc file for the Python of the environment, and their folders."""
    tag = f"cpython-{''.join(environment.version.split('.')[:2])}"
    found: dict[str, Path] = {}
    for name in _PACKAGES:
        folder = next((path for path in environment.folders if (path / name).is_dir()), None)
        if folder is not None and _lacks(folder / name, tag):
            found[name] = folder
    return found


def missing(packages: dict[str, Path]) -> str:
    """Return what is wrong in words."""
    names, place = ", ".join(packages), next(iter(packages.values()))
    return f"{names} in {place} {'has' if len(packages) == 1 else 'have'} no .pyc files (uv writes none without --compile-bytecode)"


def compiling(environment: Environment, packages: dict[str, Path]) -> str:
    """Return the command that writes them."""
    minor = ".".join(environment.version.split(".")[:2])
    folders = " ".join(dict.fromkeys(str(folder) for folder in packages.values()))
    return f"python{minor} -m compileall -q -j 0 {folders}"


def _lacks(package: Path, tag: str) -> bool:
    """Whether most modules of a package and of its next folders have no .pyc file: all of torch would take a while."""
    sources = compiled = 0
    for folder in (package, *(package / name for name in _names(package, directories=True))):
        names = [name.removesuffix(".py") for name in _names(folder) if name.endswith(".py")]
        ends = f".{tag}.pyc"
        there = {name.removesuffix(ends) for name in _names(folder / "__pycache__") if name.endswith(ends)}
        sources += len(names)
        compiled += len(there.intersection(names))
    return sources >= _FEWEST and 2 * compiled < sources


def _names(folder: Path, *, directories: bool = False) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir() == directories]
    except OSError:
        return []
