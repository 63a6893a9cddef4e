"""The rules of the family sources, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.sources.annotations import AnnotationCoverage
from example_sanity.checks.sources.docstrings import MissingDocstring, UndefinedExport
from example_sanity.checks.sources.generated import GeneratedFileStale
from example_sanity.checks.sources.header import LicenceHeader
from example_sanity.checks.sources.imports import UnimportableModule
from example_sanity.checks.sources.layout import TestLayout
from example_sanity.checks.sources.pullrequest import PrBody, PrTitle
from example_sanity.checks.sources.stale import StaleSourcePath
from example_sanity.checks.sources.syntax import PythonSyntaxWarning
from example_sanity.checks.sources.terms import TermSpelling
from example_sanity.checks.sources.tokens import BannedToken, HardCodedDevice
from example_sanity.checks.sources.yamlkeys import YamlKeyComment

if TYPE_CHECKING:
    from example_sanity.core.rule import Rule

RULES: tuple[type[Rule], ...] = (
    LicenceHeader,
    MissingDocstring,
    BannedToken,
    TestLayout,
    AnnotationCoverage,
    TermSpelling,
    YamlKeyComment,
    GeneratedFileStale,
    UnimportableModule,
    PrTitle,
    PrBody,
    HardCodedDevice,
    PythonSyntaxWarning,
    UndefinedExport,
    StaleSourcePath,
)
