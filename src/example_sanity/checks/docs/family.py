"""The rules of the family docs, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.docs.rules import RULES

__all__ = ["RULES"]
