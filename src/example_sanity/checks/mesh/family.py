"""The rules of the family mesh, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.mesh.rules import RULES

__all__ = ["RULES"]
