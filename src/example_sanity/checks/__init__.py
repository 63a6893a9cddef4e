"""The rule families, one module each, and the plugin that offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from example_sanity.core.registry import Registry, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.core.rule import Family, Loader

FAMILIES = ("naming",)


class Builtin:
    """Our own families, loaders and presets, registered like those of any plugin."""

    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        """Return our families."""
        import importlib

        return tuple(importlib.import_module(f"example_sanity.checks.{name}").FAMILY for name in FAMILIES)

    @hookimpl
    def checks_subjects(self) -> Sequence[Loader]:
        """Return the loaders of scripts and ignore lists."""
        from example_sanity.launch.loaders import LOADERS

        return LOADERS

    @hookimpl
    def checks_presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the presets verl, megatron-lm and slime."""
        from example_sanity.checks.presets import PRESETS

        return PRESETS


def registry() -> Registry:
    """Return a registry with our families and those of installed plugins."""
    return Registry([Builtin()])
