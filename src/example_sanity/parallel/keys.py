"""Where the numbers of a mesh are set, and how a number is read from a setting."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

Settings = Mapping[str, object]
# What the launched program is, as if it were a setting.
PROGRAM = "$program"
# Set where the settings hold the whole configuration, files included.
WHOLE = "$whole"


def whole_number(value: object) -> int | None:
    """Return ``value`` as a size, or None when it is no whole number (text, a float, an interpolation)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value.strip()):
        return int(value)
    return None


def configuration_read(settings: Settings) -> bool:
    """Return whether the settings hold what configuration files say too, so that what they leave out is the default."""
    return WHOLE in settings


def switch(value: object) -> int | None:
    """Return 1 for a switch that is on and 0 for one that is off, or None where that is not known."""
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    return int(value) if isinstance(value, bool) else None


def present(value: object) -> int | None:
    """Return 1 for a setting that is there, whatever it says."""
    return 1


def one_of(*names: str) -> Callable[[object], int | None]:
    """Return the reader of a choice: 1 where it is one of ``names``, 0 where it is another text."""
    return lambda value: int(value in names) if isinstance(value, str) and value[:1].isalpha() else None


class Key(msgspec.Struct, frozen=True):
    """Where a size is set: the settings keys that carry it, first one wins, and what it is when none does.

    ``default`` is a number, the symbol whose size it takes, or None. None means that the size stays unset, and for a
    factor of the world that the world is unknown. ``read`` makes a number of the value, or None of one it cannot read.
    """

    symbol: str
    settings: tuple[str, ...]
    default: int | str | None = None
    read: Callable[[object], int | None] = whole_number

    def find(self, settings: Settings) -> str | None:
        """Return the settings key that carries the size, or None; ``null`` counts as left out."""
        return next((name for name in self.settings if settings.get(name) is not None), None)
