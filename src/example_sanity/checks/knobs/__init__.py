"""ENV: the variables of a launcher. Which the environment may override, where they stand, and whether they have an effect."""

from __future__ import annotations

from example_sanity.checks.knobs.options import KnobsOptions

OPTIONS = KnobsOptions
