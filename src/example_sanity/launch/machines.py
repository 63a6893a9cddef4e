"""Other machines than the default one (eight NVIDIA GPUs): what their probes answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch.facts import literal
from example_sanity.launch.scenario import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.syntax import CommandSite, Script

_MISSING = Answer(status=127)
_NPU = Answer("".join(f"NPU ID : {device}    Chip Count : 1    Chip Name : 910B\n" for device in range(8)))
_ROCM = Answer("".join(f"GPU[{device}] : AMD Instinct MI300X\n" for device in range(8)))
_TOOLS = {"npu-smi": _NPU, "rocm-smi": _ROCM, "rocminfo": _ROCM, "amd-smi": _ROCM}
_MODULES = {"torch_npu": "npu"}
_MACHINES = {"npu": ("npu-smi",), "rocm": ("rocm-smi", "rocminfo", "amd-smi")}
_CHOSEN = regex(
    r"\$\(\s*(?P<probe>[^()|]*?)\s*&&\s*echo\s+(?P<yes>[\w.-]+)\s*\|\|\s*echo\s+(?P<no>[\w.-]+)\s*;?\s*\)"
)


def machines(script: Script) -> tuple[tuple[str, dict[str, Answer]], ...]:
    """Return the machines that a script probes for, by name: npu, rocm, and cpu where it asks ``nvidia-smi``."""
    found: dict[str, dict[str, Answer]] = {}
    imports = dict(_imports(script))
    for name, tools in _MACHINES.items():
        answers = {tool: _TOOLS[tool] for tool in tools if _asks(script, tool)}
        answers.update({probe: Answer() for probe, machine in imports.items() if machine == name})
        if answers:
            # The machine has this accelerator instead of, not beside, the default one.
            found[name] = {**answers, "nvidia-smi": _MISSING}
    if _asks(script, "nvidia-smi"):
        found["cpu"] = {"nvidia-smi": _MISSING}
    return tuple(found.items())


def _asks(script: Script, tool: str) -> bool:
    """Whether a script runs a tool or asks whether it exists (``command -v tool``)."""
    return any(_runs(site, tool) for site in script.commands)


def _runs(site: CommandSite, tool: str) -> bool:
    asked = site.name in {"command", "which", "type", "hash"} and any(
        word.text == tool for word in site.words
    )
    return site.name == tool or asked


def _imports(script: Script) -> Iterator[tuple[str, str]]:
    """Yield ``python3 -c 'import torch_npu'``, as it is called, and the machine that has the module."""
    for site in script.commands:
        words = [literal(word.text) for word in site.words]
        if site.name is None or "-c" not in words or not re.match(r"(?:.*/)?python", site.name):
            continue
        line = " ".join(word for word in words if word is not None)
        for module, machine in _MODULES.items():
            if None not in words and re.search(rf"\b{module}\b", line):
                yield line, machine


def answer_by_default(word: str) -> str | None:
    """Return what ``$(probe && echo a || echo b)`` gives on the default machine; None for any other word."""
    found = _CHOSEN.fullmatch(word)
    if found is None:
        return None
    if re.search(r"\b(?:torch_npu|npu-smi|rocm-smi|rocminfo|amd-smi)\b", found["probe"]):
        return found["no"]
    return found["yes"] if re.search(r"\bnvidia-smi\b", found["probe"]) else None
