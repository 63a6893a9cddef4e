"""The GPUs that this host shows."""

from __future__ import annotations

import os
import subprocess

import msgspec

_QUERY = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
_SECONDS = 20


class Gpus(msgspec.Struct, frozen=True):
    """The names of the GPUs; ``hidden`` are those that CUDA_VISIBLE_DEVICES leaves out. ``problem`` says why none is known."""

    names: tuple[str, ...] = ()
    hidden: int = 0
    problem: str | None = None


def visible() -> Gpus:
    """Ask nvidia-smi which GPUs there are. A host without it has none that can be seen."""
    try:
        done = subprocess.run(_QUERY, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except FileNotFoundError:
        return Gpus(problem="no nvidia-smi on this machine")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Gpus(problem=f"nvidia-smi did not answer: {error}")
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        return Gpus(problem=f"nvidia-smi failed: {said[0] if said else f'exit status {done.returncode}'}")
    names = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    kept = _kept(len(names), os.environ.get("CUDA_VISIBLE_DEVICES"))
    return Gpus(tuple(names[:kept]), len(names) - kept)


def _kept(count: int, chosen: str | None) -> int:
    """How many of ``count`` GPUs CUDA_VISIBLE_DEVICES keeps; CUDA stops at the first that does not exist."""
    if chosen is None:
        return count
    kept = 0
    for word in chosen.split(","):
        device = word.strip()
        if not device or (device.lstrip("-").isdigit() and not 0 <= int(device) < count):
            break
        kept += 1
    return min(kept, count)
