"""One problem of one override, before it is known which rule reports it where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Edit, Fix, Severity, Span

if TYPE_CHECKING:
    from example_sanity.launch.settings import Setting
    from example_sanity.launch.syntax import Script


class Issue(msgspec.Struct, frozen=True):
    """The code of the rule, the setting to point at (None: the command), the message, and what differs from the rule."""

    code: str
    setting: Setting | None
    message: str
    severity: Severity | None = None
    replace: tuple[str, str] | None = None  # how the word begins, and how it should begin
    safe: bool = True


def place(setting: Setting, script: Script) -> tuple[str, Span]:
    """Return where an override is written: its word, else the only place in the script that writes this key."""
    origin = setting.origin
    if not origin.exact:
        pattern = re.compile(rf"(?<![\w.@/]){re.escape(setting.key)}=")
        lines = [line for line in script.lines if not line.lstrip().startswith("#")]
        if sum(len(pattern.findall(line)) for line in lines) == 1:
            return script.path, _found(pattern, script)
    return origin.path, origin.span


def _found(pattern: re.Pattern[str], script: Script) -> Span:
    for number, line in enumerate(script.lines, 1):
        match = None if line.lstrip().startswith("#") else pattern.search(line)
        if match:
            start = len(line[: match.start()].rstrip("+~'\""))
            word = re.match(r"\S+", line[start:])
            return Span(number, start + 1, number, start + 1 + len(word[0] if word else ""))
    raise ValueError("the pattern is in no line")


def fix(issue: Issue, script: Script) -> Fix | None:
    """Return the edit that makes the word begin as it should, where the source shows that beginning."""
    if issue.replace is None or issue.setting is None:
        return None
    path, span = place(issue.setting, script)
    before, after = issue.replace
    if path != script.path or span.line > len(script.lines):
        return None
    column = script.lines[span.line - 1].find(before, span.column - 1)
    if column < 0 or column > span.column + 1:
        return None  # a word begins there, or behind its opening quote
    edited = Span(span.line, column + 1, span.line, column + 1 + len(before))
    return Fix(f"write {after}", (Edit(path, edited, after),), issue.safe)
