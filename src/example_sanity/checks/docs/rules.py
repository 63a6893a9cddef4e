"""All rules of the family, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.docs.commands import WrongCommand
from example_sanity.checks.docs.conventions import DocumentedBadName
from example_sanity.checks.docs.dates import BadDate, MissingDate
from example_sanity.checks.docs.defaults import DocWrongDefault
from example_sanity.checks.docs.flags import DocUnknownFlag
from example_sanity.checks.docs.keys import DocUnknownKey
from example_sanity.checks.docs.listings import GhostEntry, UnlistedScript
from example_sanity.checks.docs.paths import DanglingPath
from example_sanity.checks.docs.references import DeadAnchor, MissingFromIndex
from example_sanity.checks.docs.settings import DocUnusedSetting
from example_sanity.checks.docs.snippets import UnimportableSnippet
from example_sanity.checks.docs.sources import DanglingConfigPath

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule

RULES: tuple[type[Rule], ...] = (
    DanglingPath,
    WrongCommand,
    DocUnknownKey,
    DocUnknownFlag,
    DocWrongDefault,
    UnlistedScript,
    GhostEntry,
    MissingFromIndex,
    DeadAnchor,
    UnimportableSnippet,
    BadDate,
    MissingDate,
    DocumentedBadName,
    DocUnusedSetting,
    DanglingConfigPath,
)
