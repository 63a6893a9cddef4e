"""The rules of the family flags, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.flags.inputs import MissingInput
from example_sanity.checks.flags.missing import MissingProgram
from example_sanity.checks.flags.names import AbbreviatedFlag, DeprecatedFlag, IgnoredFlag, UnknownFlag
from example_sanity.checks.flags.required import MissingRequiredFlag
from example_sanity.checks.flags.values import FlagArity, FlagBadChoice, FlagWrongType

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule

RULES: tuple[type[Rule], ...] = (
    UnknownFlag,
    FlagArity,
    FlagBadChoice,
    DeprecatedFlag,
    AbbreviatedFlag,
    IgnoredFlag,
    MissingProgram,
    FlagWrongType,
    MissingRequiredFlag,
    MissingInput,
)
