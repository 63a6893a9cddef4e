"""A plugin for example-sanity: what it offers. Each module is imported when its part is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from example_sanity import Contents, Family, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _contents() -> Contents:
    from sanity_acme.storage import RULES, StorageOptions

    return Contents(RULES, StorageOptions)


@hookimpl
def checks_rules() -> Sequence[Family]:
    """Offer one rule family, with the code prefix ACM and the table ``[tool.example-sanity.storage]``."""
    return (Family("storage", "ACM", "where a launch writes", _contents),)


@hookimpl
def checks_presets() -> Mapping[str, Mapping[str, Any]]:
    """Offer the conventions of our repositories, for ``preset = "acme"``."""
    return {
        "acme": {
            "naming": {"roots": ["launch"], "backends": ["acme"]},
            "storage": {"folders": ["/tmp", "/scratch"]},
        }
    }


@hookimpl
def checks_entrypoints() -> Mapping[str, Any]:
    """Offer the command of our cluster, ``acme submit --nodes 2 train.py``: what it starts is a launch."""
    from example_sanity.launch.launchers import Grammar

    return {"acme submit": Grammar(values=frozenset({"nodes", "queue"}), switches=frozenset({"wait"}))}


@hookimpl
def checks_backends() -> Sequence[Any]:
    """Offer the arithmetic of our trainer, for the family ``mesh``, ``show`` and ``plan``."""
    from sanity_acme.backend import BACKEND

    return (BACKEND,)
