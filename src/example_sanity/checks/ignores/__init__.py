"""IGN: ignore lists that rot. Entries that name nothing, are not needed, give no reason, or repeat others."""

from __future__ import annotations

from example_sanity.checks.ignores.loader import EntryLoader, IgnoresOptions

__all__ = ["OPTIONS", "EntryLoader", "IgnoresOptions"]

OPTIONS = IgnoresOptions


def __getattr__(name: str) -> object:
    """Return ``RULES``, imported when first asked for: every run wants the loader, few want the rules."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from example_sanity.checks.ignores import baseline, rules, suppressions

    return (*rules.RULES, *suppressions.RULES, *baseline.RULES)
