"""OVR: Hydra overrides against the configuration that the program composes."""

from __future__ import annotations

from example_sanity.checks.overrides.options import OverridesOptions
from example_sanity.checks.overrides.rules import RULES

OPTIONS = OverridesOptions
__all__ = ["OPTIONS", "RULES"]
