"""The rules of the family overrides, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.overrides.rules import RULES

__all__ = ["RULES"]
