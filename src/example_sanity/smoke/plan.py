"""What a smoke run will start: the launcher as shipped, and everything that differs from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec


class Change(msgspec.Struct, frozen=True):
    """One thing that differs from the launcher as shipped.

    ``name`` is a variable (``environment``) or a dotted key or flag name (``override``), ``value`` what it is set to and
    ``was`` what the launcher gives it, None where it leaves it out. ``why`` is a sentence without a full stop.
    """

    name: str
    value: str
    was: str | None
    why: str
    kind: Literal["environment", "override"]


class SmokePlan(msgspec.Struct, frozen=True):
    """One smoke run, complete but for its files.

    ``script`` is relative to the project root. ``environment`` are the variables set for the launcher, ``arguments`` its
    trailing arguments; ``changes`` says for each of both why. ``steps`` are the optimizer steps that must be seen.
    ``kind`` is ``sft`` for pretraining, too. ``backend`` is that of the trained model (``megatron_lite``), ``model_family`` that
    of the checkpoint (``kimi_k2``).
    ``checkpoint`` (a folder) and ``data`` (files) are None and () until they are made; ``folder`` is where, and ``config`` what
    ``config.json`` of the tiny model says (empty where the run takes another model).
    """

    script: str
    environment: dict[str, str]
    arguments: tuple[str, ...]
    changes: tuple[Change, ...]
    gpus: int
    nodes: int
    steps: int
    kind: Literal["sft", "rl"]
    backend: str
    model_family: str
    checkpoint: Path | None = None
    data: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    folder: str = ""
    config: dict[str, Any] = {}
