"""ENV: the variables of a launcher. Which the environment may override, where they stand, and whether they have an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.knobs.header import UndocumentedKnob, WrongDocumentedDefault
from example_sanity.checks.knobs.options import KnobsOptions
from example_sanity.checks.knobs.pairing import UnbalancedRegion
from example_sanity.checks.knobs.placement import FixedKnob, KnobOutsideRegion
from example_sanity.checks.knobs.variables import UnboundVariable, UnusedKnob

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule

RULES: tuple[type[Rule], ...] = (
    KnobOutsideRegion,
    FixedKnob,
    UnusedKnob,
    UnbalancedRegion,
    UnboundVariable,
    UndocumentedKnob,
    WrongDocumentedDefault,
)
OPTIONS = KnobsOptions
