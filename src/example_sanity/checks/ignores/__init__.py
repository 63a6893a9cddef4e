"""IGN: ignore lists that rot. Entries that name nothing, are not needed, give no reason, or repeat others."""

from __future__ import annotations

from example_sanity.checks.ignores import rules, suppressions
from example_sanity.checks.ignores.loader import EntryLoader, IgnoresOptions

__all__ = ["OPTIONS", "RULES", "EntryLoader", "IgnoresOptions"]

RULES = (*rules.RULES, *suppressions.RULES)
OPTIONS = IgnoresOptions
