"""Helpers that several test modules use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.cli import run
from example_sanity.core.finding import Finding
from example_sanity.core.runner import Report

Write = Callable[[Mapping[str, "str | bytes"]], Path]


def report(root: Path, family: str, *paths: str, preset: str | None = None) -> Report:
    """Run one family over paths of a project (default: all of it)."""
    opened = session.open_run((), root=root, preset=preset)
    return opened.check([opened.registry.family(family)], [root / path for path in paths])


def brief(findings: tuple[Finding, ...]) -> list[str]:
    """Return ``path:line CODE`` for each finding."""
    return [f"{finding.path}:{finding.span.line} {finding.code}" for finding in findings]


def cli(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process and return exit code, output and error output."""
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err
