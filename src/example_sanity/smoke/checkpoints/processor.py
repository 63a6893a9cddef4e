"""The files that say how a model with a vision tower takes images, which serving engines read even for text alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# An image of at most 128 x 128 pixels: 64 patches, 16 tokens. Engines plan for the largest that there may be.
_SIZE = {"shortest_edge": 64 * 64, "longest_edge": 128 * 128}
_HALF = [0.5, 0.5, 0.5]


def write(folder: Path, config: dict[str, Any]) -> None:
    """Write them for a model with a vision tower, and nothing for any other."""
    vision = config.get("vision_config")
    if not vision:
        return
    common = {
        "processor_class": "Qwen3VLProcessor",
        "patch_size": vision["patch_size"],
        "temporal_patch_size": vision["temporal_patch_size"],
        "merge_size": vision["spatial_merge_size"],
        "image_mean": _HALF,
        "image_std": _HALF,
        "size": _SIZE,
    }
    image = {**common, "image_processor_type": "Qwen2VLImageProcessorFast"}
    video = {**common, "video_processor_type": "Qwen3VLVideoProcessor"}
    for name, content in (("preprocessor_config", image), ("video_preprocessor_config", video)):
        (folder / f"{name}.json").write_text(json.dumps(content, indent=2), "utf-8")
