"""What the rules of the family share: the loop over programs, and where a word stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import msgspec

from example_sanity.checks.flags.programs import Program, programs
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Severity, Span
from example_sanity.core.rule import Context, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.core.finding import Finding
    from example_sanity.launch.command import Launch


class FlagRule(Rule):
    """A rule that looks at the flags of one program."""

    subject = Subject.LAUNCH

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every program of the launch whose flags are known."""
        launch = cast("Launch", subject)
        for program in programs(launch, context):
            if program.then is None:
                yield from self._judge(program, context)
            else:
                yield from self._compared(program, program.then, context)

    def _compared(self, now: Program, then: Program, context: Context) -> Iterator[Finding]:
        """Judge a program at the pin and as it is now, and say what differs."""
        here, there = list(self._judge(now, context)), list(self._judge(then, context))
        places = {(item.path, item.span) for item in here}
        for item in there:
            also = "and now, too" if (item.path, item.span) in places else "only"
            yield msgspec.structs.replace(item, message=f"{item.message} [at the pin {now.pin} {also}]")
        places = {(item.path, item.span) for item in there}
        for item in here:
            if (item.path, item.span) not in places:
                message = f"{item.message} [now only; not at the pin {now.pin}]"
                yield msgspec.structs.replace(item, message=message, severity=Severity.INFO)

    def _judge(self, program: Program, context: Context) -> Iterable[Finding]:
        """Return what is wrong with the flags of a program."""
        raise NotImplementedError

    def _at(self, program: Program, index: int, message: str, severity: Severity | None = None) -> Finding:
        """Return a finding at a word of the program's arguments."""
        span, _ = place(program, index)
        return self.finding(
            program.origin(index).path,
            span,
            message,
            severity=severity,
            scenarios=(program.launch.scenario.name,),
        )


def place(program: Program, index: int) -> tuple[Span, str]:
    """Return where a word is written, and the text behind it up to the end of its line.

    A word that came through an expansion is looked for in the file: a flag that is written in one place only is there. What stands behind it is known, too, where it is
    the same in all places.
    """
    origin, word = program.origin(index), program.words[index]
    try:
        lines = program.project.text(origin.path).split("\n")
    except Uninspectable:
        return origin.span, ""
    span = origin.span
    line = lines[span.line - 1] if span.line == span.end_line <= len(lines) else ""
    if word.partition("=")[0] in line[span.column - 1 : span.end_column - 1]:
        return span, line[span.end_column - 1 :].strip(" \\")
    if word.startswith("--") and len(word) > 2:
        pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        found = [(row, match) for row, line in enumerate(lines, 1) for match in pattern.finditer(line)]
        behind = {lines[row - 1][match.end() :].strip(" \\") for row, match in found}
        if len(found) == 1:
            row, match = found[0]
            span = Span(row, match.start() + 1, row, match.end() + 1)
        if len(behind) == 1:
            return span, behind.pop()
    return span, ""


def shown(word: str) -> str:
    """Return a word for a message, at most 40 characters of it."""
    return word if len(word) <= 40 else f"{word[:37]}..."


def counted(number: int, noun: str) -> str:
    """Return "no value", "1 value", "2 values"."""
    return f"{number or 'no'} {noun}{'' if number <= 1 else 's'}"
