"""The rules of the family shell, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.shell import shellcheck
from example_sanity.checks.shell.characters import InvisibleCharacter
from example_sanity.checks.shell.continuations import (
    CommentInContinuation,
    MissingContinuation,
    SpaceAfterContinuation,
)
from example_sanity.checks.shell.gates import UngatedCommand
from example_sanity.checks.shell.layout import (
    ArgumentsNotForwarded,
    DirectiveAfterCommand,
    MissingSource,
    NotStrict,
)
from example_sanity.checks.shell.rayenv import NotForwardedToRay
from example_sanity.checks.shell.splits import SplitValue, UnquotedPlaceholder
from example_sanity.checks.shell.variables import ConnectionsForBackend, MisspeltVariable, RetiredVariable
from example_sanity.checks.shell.words import AssignmentAfterCommand, LiteralQuotes

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule

RULES: tuple[type[Rule], ...] = (
    SpaceAfterContinuation,
    CommentInContinuation,
    MissingContinuation,
    InvisibleCharacter,
    AssignmentAfterCommand,
    LiteralQuotes,
    ArgumentsNotForwarded,
    DirectiveAfterCommand,
    MissingSource,
    UngatedCommand,
    NotForwardedToRay,
    RetiredVariable,
    MisspeltVariable,
    ConnectionsForBackend,
    NotStrict,
    UnquotedPlaceholder,
    SplitValue,
    *shellcheck.RULES,
)
