"""DOC: what documents say of scripts, keys, flags and files."""

from __future__ import annotations

from example_sanity.checks.docs.loader import DocumentLoader
from example_sanity.checks.docs.options import DocsOptions

__all__ = ["OPTIONS", "DocsOptions", "DocumentLoader"]

OPTIONS = DocsOptions


def __getattr__(name: str) -> object:
    """Return ``RULES``, imported when first asked for: every run wants the loader, few want the rules."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from example_sanity.checks.docs import rules

    return rules.RULES
