"""Where a tiny checkpoint lies: in a folder named after its content, made once."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from example_sanity.core.errors import UsageError
from example_sanity.smoke.checkpoints import processor, tokenizer
from example_sanity.smoke.checkpoints.weights import SEED
from example_sanity.smoke.data import texts

_FORMAT = 2  # counted up when weights or tokenizer are made in another way


def location(folder: Path, family: str, config: dict[str, Any]) -> Path:
    """Return where the checkpoint with this configuration lies or will lie."""
    content = json.dumps([_FORMAT, SEED, config, tokenizer.TEMPLATE, tokenizer.SIZE], sort_keys=True)
    return folder / f"{family}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def make(path: Path, config: dict[str, Any]) -> None:
    """Make the checkpoint at ``path`` unless it is there. Raises UsageError where torch or transformers are missing.

    It is written beside its place and moved there whole, so that what lies there is complete.
    """
    if path.is_dir():
        return
    _require("torch", "transformers", "tokenizers", "safetensors")
    from example_sanity.smoke.checkpoints import weights

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as made:
        unfinished = Path(made) / path.name
        unfinished.mkdir()
        weights.write(unfinished, config)
        tokenizer.write(unfinished, texts())
        processor.write(unfinished, config)
        shutil.move(unfinished, path)


def _require(*names: str) -> None:
    import importlib.util

    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a tiny checkpoint takes {', '.join(missing)}: install example-sanity[smoke] into the environment of the "
            "trainer and call that one"
        )
