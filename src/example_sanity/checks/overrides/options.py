"""What the family ``overrides`` may be told: where further sources are, and which shipped schema counts."""

from __future__ import annotations

import msgspec


class OverridesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.overrides]``.

    ``source-roots`` are folders, absolute or relative to the project, in which packages lie that the launchers start
    and that are not in the project. ``schema`` names the shipped schema to use for modules found nowhere else; without it
    the newest counts that has the module.
    """

    source_roots: tuple[str, ...] = ()
    schema: str | None = None
