"""DOC015: files that configurations name and the repository does not have."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.docs.base import matches, options
from example_sanity.checks.docs.files import Files, files_of
from example_sanity.checks.docs.mentions import is_placeholder
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, Span
from example_sanity.core.project import Project
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator


FILE = regex(
    r"(?:\.{1,2}/)*[A-Za-z0-9_][\w.+-]*(?:/[\w.+-]+)+\.(?:py|ya?ml|toml|json|jinja2?|sh|txt|cfg|ini)"
)
OUTPUT = regex(
    r"save|out|log|dump|export|write|dest|target|record|report|trace|profile|cache|tmp|result", re.IGNORECASE
)
# What one downloads, beside the data that the repository has.
_DATA = regex(r"data(?:sets?)?/.*\.(?:json|txt)$")
_YAML_VALUE = regex(r"^\s*(?:-\s+)?(?:([\w.-]+):\s+)?[\"']?([^\s\"'#:]+)[\"']?\s*(?:#.*)?$")


class DanglingConfigPath(Rule):
    """A YAML file of the repository names a file of it that is not there.

    Looked at are plain values that begin in a folder of the repository and end like a source or a configuration. Keys that
    name what is written (``output_dir``), data below ``data/``, which one downloads, and files of continuous integration,
    which the family ``workflows`` judges, are passed over.
    """

    code = "DOC015"
    name = "dangling-config-path"
    summary = "a configuration names a file that does not exist"
    subject = Subject.PROJECT
    bad = (
        Example(
            "reward: app/rewards/rule.py\n", "examples/a.yaml", {"app/reward/rules.py": "", "app/x.py": ""}
        ),
    )
    good = (
        Example(
            "reward: app/reward/rules.py\noutput: app/x.json\n",
            "examples/a.yaml",
            {"app/reward/rules.py": ""},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether there are YAML files to look through."""
        return any(name.endswith((".yaml", ".yml")) for name in context.project.files)

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look through the YAML files."""
        project = cast("Project", subject)
        files = files_of(context)
        foreign = options(context).foreign
        for path in project.files:
            if path.endswith((".yaml", ".yml")) and "/." not in f"/{path}":
                for span, named in _values(path, project):
                    if is_missing(named, path, files) and not matches(named, foreign):
                        yield self.finding(path, span, f"{named} does not exist{nearby(named, files)}")


def _values(path: str, project: Project) -> Iterator[tuple[Span, str]]:
    try:
        lines = project.text(path).split("\n")
    except Uninspectable:
        return
    for number, line in enumerate(lines, 1):
        found = _YAML_VALUE.match(line) if "/" in line else None
        if (
            found
            and FILE.fullmatch(found[2])
            and not OUTPUT.search(found[1] or "")
            and not is_placeholder(found[2])
        ):
            yield Span(number, found.start(2) + 1, number, found.end(2) + 1), found[2]


def is_missing(path: str, beside: str, files: Files) -> bool:
    """Return whether a path that a file names, from the root or from its folder, must be of this repository and is not there."""
    bare = posixpath.normpath(path)
    here = posixpath.dirname(beside)
    if _DATA.match(bare):
        return False
    if bare.startswith("..") or files.resolve(path, ("", here)) is not None or files.ends_with(bare):
        return False
    return bare.partition("/")[0] in files.tops and not files.is_elsewhere(bare)


def nearby(path: str, files: Files) -> str:
    """Say which file may be meant."""
    best = files.nearest(posixpath.normpath(path))
    return f"; the nearest is {best}" if best else ""
