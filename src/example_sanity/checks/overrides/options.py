"""What the family ``overrides`` may be told: which shipped schema counts."""

from __future__ import annotations

import msgspec


class OverridesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.overrides]``.

    ``schema`` names the shipped schema to use for modules found nowhere else; without it
    the newest counts that has the module.
    """

    schema: str | None = None
