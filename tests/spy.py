"""A rule family for tests of what becomes of findings: it reports every BAD in a line, and every file named bad."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from example_sanity.checks import Builtin
from example_sanity.core import config as configuration
from example_sanity.core.config import Config
from example_sanity.core.finding import Edit, Finding, Fix, Span
from example_sanity.core.project import Project
from example_sanity.core.registry import Registry, hookimpl
from example_sanity.core.rule import Contents, Context, Family, Loaded, Rule, Subject
from example_sanity.core.runner import Report, Run


class AnyFile:
    """The path of any file."""

    subject = Subject.DOCUMENT

    def matches(self, context: Context, path: str) -> bool:
        del context, path
        return True

    def load(self, context: Context, path: str) -> Loaded:
        context.project.text(path)
        return Loaded((path,))


class Bad(Rule):
    """Reports BAD, BAD1, BAD2 ... once for each that a line holds; BAD? has a safe fix, BAD! an unsafe one."""

    code = "SPY001"
    name = "bad-word"
    summary = "a line holds BAD"
    subject = Subject.DOCUMENT

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        path = cast("str", subject)
        for number, line in enumerate(context.project.text(path).split("\n"), 1):
            for found in re.finditer(r"BAD\d?([?!]?)", line):
                span = Span(number, found.start() + 1, number, found.end() + 1)
                edits = (Edit(path, span, "GOOD"),)
                fix = Fix("say GOOD", edits, safe=found[1] == "?") if found[1] else None
                yield self.finding(path, span, f"{found[0]} is bad", fix=fix)


class BadName(Rule):
    """Reports a file whose name holds bad."""

    code = "SPY002"
    name = "bad-name"
    summary = "a file is called bad"
    subject = Subject.DOCUMENT

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        del context
        path = cast("str", subject)
        if "bad" in path:
            yield self.finding(path, Span(), f"{path} is called bad")


class SpyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No options."""


class SpyPlugin:
    """Offers the family."""

    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        return (Family("spy", "SPY", "test rules", lambda: Contents((Bad, BadName), SpyOptions)),)

    @hookimpl
    def checks_subjects(self) -> Sequence[AnyFile]:
        return (AnyFile(),)


def registry() -> Registry:
    """Return a registry with our families and this one."""
    return Registry([Builtin(), SpyPlugin()], discover=False)


def open_run(root: Path, config: Config | None = None, environment: Mapping[str, str] | None = None) -> Run:
    """Prepare a run over a project."""
    known = registry()
    config = config or configuration.load(root, known.families, known.presets)
    return Run(Project(root, config.exclude, config.include), config, known, environment)


def spy(root: Path, *paths: str, environment: Mapping[str, str] | None = None) -> Report:
    """Run this family and the one that judges suppressions."""
    run = open_run(root, environment=environment)
    families = [run.registry.family("spy"), run.registry.family("ignores")]
    return run.check(families, [root / path for path in paths])
