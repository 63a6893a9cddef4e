"""Annotations of GitHub Actions: workflow commands after the concise report.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the runner keeps the first 10 errors, 10 warnings and 10
notices of a step and drops the rest without a word.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from example_sanity.report import concise
from example_sanity.report.model import counted, fix_title, is_whole_file, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Finding
    from example_sanity.report.model import View

LIMIT = 10
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(view: View) -> str:
    """Return the concise report, the annotations (errors first), and how many GitHub would have dropped."""
    text = concise.render(view)
    lines = [*_annotations(view), *_dropped(view)]
    return _inert(text) + "".join(f"{line}\n" for line in lines)


def _inert(text: str) -> str:
    """The text between commands that stop the runner from looking for commands in it.

    The token is a hash of the text, so that nothing in the text can be the token.
    """
    token = f"example-sanity-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def _of(view: View, severity: str) -> list[Finding]:
    return [finding for finding in view.report.findings if finding.severity.value == severity]


def _annotations(view: View) -> Iterator[str]:
    for severity, command in _COMMANDS.items():
        for finding in _of(view, severity)[:LIMIT]:
            yield _command(command, finding, view.prefix)


def _command(command: str, finding: Finding, prefix: str) -> str:
    span = finding.span
    values = {"file": prefix + finding.path, "line": span.line}
    if not is_whole_file(span):
        values["endLine"] = span.end_line
        if span.end_line == span.line:  # GitHub takes columns only within one line, the last one inclusive
            values |= {"col": span.column, "endColumn": span.end_column - 1}
    values["title"] = f"{finding.code} {finding.name}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in values.items())
    fix = f"\n{fix_title(finding.fix)}" if finding.fix else ""
    return f"::{command} {properties}::{_data(sentence(finding) + fix)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _dropped(view: View) -> Iterator[str]:
    left = [(len(_of(view, severity)) - LIMIT, severity) for severity in _COMMANDS]
    parts = [f"{n} info" if severity == "info" else counted(n, severity) for n, severity in left if n > 0]
    if parts:
        yield f"GitHub shows {LIMIT} annotations of a kind: {', '.join(parts)} only in the text above."
