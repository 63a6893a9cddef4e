"""OVR: Hydra overrides against the configuration that the program composes."""

from __future__ import annotations

from example_sanity.checks.overrides.options import OverridesOptions

OPTIONS = OverridesOptions
