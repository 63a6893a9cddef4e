"""IGN: ignore lists that rot. Entries that name nothing, are not needed, give no reason, or repeat others."""

from __future__ import annotations

from example_sanity.checks.ignores.loader import EntryLoader, IgnoresOptions
from example_sanity.checks.ignores.rules import RULES

__all__ = ["OPTIONS", "RULES", "EntryLoader", "IgnoresOptions"]

OPTIONS = IgnoresOptions
