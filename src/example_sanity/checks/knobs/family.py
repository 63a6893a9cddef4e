"""The rules of the family knobs, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.knobs.header import UndocumentedKnob, WrongDocumentedDefault
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
