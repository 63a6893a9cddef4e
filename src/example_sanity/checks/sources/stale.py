"""SRC015: paths in the configuration of the family that name nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.sources import base
from example_sanity.checks.sources.options import SourcesOptions
from example_sanity.core.errors import did_you_mean
from example_sanity.core.finding import Severity, Span
from example_sanity.core.patterns import Syntax, literal
from example_sanity.core.rule import Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_FILES = {"pkg/core.py": '"""It."""\n'}


class StaleSourcePath(Rule):
    """A path that the configuration of this family names is not there.

    A file that is renamed takes itself out of every check that lists it, and nobody notices. Only patterns without
    wildcards are looked at, and of a preset only those whose first folder this repository has.
    """

    code = "SRC015"
    name = "stale-source-path"
    summary = "the configuration of sources names a path that is not there"
    severity = Severity.WARNING
    subject = Subject.PROJECT
    source = "verl tests/special_sanity/check_docstrings.py passes over files that are missing"
    bad = (Example('[sources.docstrings]\nfiles = ["/pkg/cores.py"]\n', "example-sanity.toml", _FILES),)
    good = (Example('[sources.docstrings]\nfiles = ["/pkg/core.py"]\n', "example-sanity.toml", _FILES),)

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the family is configured."""
        return base.FAMILY in context.config.families

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look for every path that is written out."""
        del subject
        project = context.project
        where = context.config.path or f"preset {context.config.preset}"
        text = project.text(where) if (project.root / where).is_file() else ""
        conventions = _of_preset(context)
        for key, pattern, home in _patterns(base.options(context)):
            path = literal(pattern, Syntax.GITIGNORE)
            # Others than the project itself follow its conventions, too; they do not have its files.
            foreign = pattern in conventions and home.strip("/").partition("/")[0] not in project.folders
            if path and not foreign and not base.among_any(project.all_files, pattern):
                hint = did_you_mean(path, project.all_files)
                span = _span(text, pattern)
                yield self.finding(where, span, f"sources.{key} names {pattern}, which is not there{hint}")


def _of_preset(context: Context) -> set[str]:
    """The patterns that a preset brings along, for whatever repository follows it."""
    preset = context.registry.presets.get(context.config.preset or "", {})
    return {
        pattern for _, pattern, _ in _patterns(msgspec.convert(preset.get(base.FAMILY, {}), SourcesOptions))
    }


def _span(text: str, pattern: str) -> Span:
    for number, line in enumerate(text.split("\n"), 1):
        at = line.find(f'"{pattern}"')
        if at >= 0:
            return Span(number, at + 1, number, at + len(pattern) + 3)
    return Span()


def _patterns(found: SourcesOptions) -> Iterator[tuple[str, str, str]]:
    """The patterns of the family that say where to look, with their keys and the path whose first folder they belong to."""
    single = {
        "licence": ("paths",),
        "docstrings": ("files", "exports", "imported_by"),
        "devices": ("paths", "exclude"),
        "annotations": ("paths",),
        "yaml_comments": ("files",),
    }
    for table, keys in single.items():
        for key in keys:
            shown = f"{table}.{key}".replace("_", "-")
            yield from ((shown, item, item) for item in getattr(getattr(found, table), key, ()))
    for banned in found.banned:
        yield from (("banned.paths", item, item) for item in banned.paths)
    for layout in found.layout:
        named = (layout.sources, layout.tests)
        yield from (("layout", f"/{item}/", layout.sources) for item in named)
        yield from (("layout.files", f"/{item}", layout.sources) for item in layout.files)
    for generated in found.generated:
        yield from (("generated.files", f"/{item}", item) for item in generated.files)
