"""What the rules of the family share: the loop over programs, and where a word stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.flags.programs import Program, programs
from example_sanity.core.errors import Uninspectable
from example_sanity.core.rule import Context, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.core.finding import Finding, Severity
    from example_sanity.launch.command import Launch


class FlagRule(Rule):
    """A rule that looks at the flags of one program."""

    subject = Subject.LAUNCH

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every program of the launch whose flags are known."""
        launch = cast("Launch", subject)
        for program in programs(launch, context):
            yield from self._judge(program, context)

    def _judge(self, program: Program, context: Context) -> Iterable[Finding]:
        """Return what is wrong with the flags of a program."""
        raise NotImplementedError

    def _at(self, program: Program, index: int, message: str, severity: Severity | None = None) -> Finding:
        """Return a finding at a word of the program's arguments."""
        origin = program.origin(index)
        return self.finding(
            origin.path,
            origin.span,
            message,
            severity=severity,
            scenarios=(program.launch.scenario.name,),
        )


def following(program: Program, index: int, context: Context) -> str:
    """Return the source text behind a flag: of its word, or of the only place of the file where it is written."""
    origin = program.origin(index)
    try:
        text = context.project.text(origin.path)
    except Uninspectable:
        return ""
    if origin.exact:
        lines = text.split("\n")
        line = lines[origin.span.end_line - 1] if origin.span.end_line <= len(lines) else ""
        return line[origin.span.end_column - 1 :].strip(" \\")
    places = re.findall(rf"(?<![\w-]){re.escape(program.words[index])}(?![\w-])(.*)", text)
    return str(places[0]).strip(" \\") if len(places) == 1 else ""


def shown(word: str) -> str:
    """Return a word for a message, at most 40 characters of it."""
    return word if len(word) <= 40 else f"{word[:37]}..."


def counted(number: int, noun: str) -> str:
    """Return "no value", "1 value", "2 values"."""
    return f"{number or 'no'} {noun}{'' if number <= 1 else 's'}"
