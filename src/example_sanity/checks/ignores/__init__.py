"""IGN: ignore lists that rot. Entries that name nothing, are not needed, give no reason, or repeat others."""

from __future__ import annotations

from example_sanity.checks.ignores.loader import IgnoresOptions

OPTIONS = IgnoresOptions
