"""What is known of a smoke run before its settings are chosen, for the tables of the trainers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import field

from example_sanity.launch.settings import Settings
from example_sanity.parallel.keys import whole_number
from example_sanity.parallel.mesh import Mesh
from example_sanity.smoke.meshes import Scaled


class Outline(msgspec.Struct, frozen=True):
    """A launch, the sizes that it shall have, and where its files will lie.

    ``given`` and ``mesh`` are the launcher's own, as shipped; ``scaled`` are the sizes and numbers of the smoke run, ``config`` is that of its model.
    """

    given: Settings
    mesh: Mesh
    scaled: Scaled
    kind: Literal["sft", "rl"]
    steps: int
    folder: Path
    checkpoint: Path
    data: tuple[Path, Path]
    config: Mapping[str, Any] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """Return what the launcher gives a setting, or None."""
        setting = self.given.get(key)
        return setting.raw if setting else None

    def key(self, symbol: str) -> str | None:
        """Return the setting that carries a number, or that would."""
        return self.mesh.key(symbol)

    def between(self, symbol: str, least: int, most: int) -> Callable[[str | None], bool]:
        """Return the test whether a setting's number lies in a range; left out, it counts with the backend's default."""
        keys = (*self.mesh.backend.keys, *self.mesh.backend.world, *self.mesh.backend.facts)
        default = next((key.default for key in keys if key.symbol == symbol), None)

        def fits(text: str | None) -> bool:
            if text is None:
                return default is None or (isinstance(default, int) and least <= default <= most)
            size = whole_number(text)
            return size is not None and least <= size <= most

        return fits
