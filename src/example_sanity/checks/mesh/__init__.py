"""MSH: parallel mesh arithmetic, and the launcher's own guard."""

from __future__ import annotations

import msgspec

from example_sanity.checks.mesh.rules import RULES


class MeshOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.mesh]``: no keys yet; what a backend enforces is no matter of taste."""


OPTIONS = MeshOptions
__all__ = ["OPTIONS", "RULES"]
