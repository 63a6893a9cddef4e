"""What an entry is told: Hydra overrides and flags, flattened to typed key → value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.command import Origin

Value = object  # str, int, float, bool, None, list or dict, as Hydra or the flag's text reads


@dataclass(frozen=True)
class Setting:
    """One key and its value.

    ``style`` is ``hydra`` or ``flag``. ``operation`` is ``set``, ``add`` (``+``), ``force`` (``++``), ``delete``
    (``~``), ``group`` (``actor@x.y=mlite_actor``, ``engine=mlite``) for Hydra and ``flag`` or ``switch`` for flags,
    whose key is the long name without dashes (``tensor-model-parallel-size``). ``raw`` is the text of the value.
    ``word`` is the index of the word in the command. ``stable`` is False when it depends on a placeholder.
    """

    key: str
    value: Value
    raw: str
    style: str
    operation: str
    word: int
    origin: Origin
    stable: bool = True


@dataclass(frozen=True)
class Settings:
    """All settings of an entry in order; the last one of a key wins."""

    items: tuple[Setting, ...]

    def get(self, key: str) -> Setting | None:
        """Return the setting that wins for ``key``, or None."""
        return next((item for item in reversed(self.items) if item.key == key), None)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.items)
