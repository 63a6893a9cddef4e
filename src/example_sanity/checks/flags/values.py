"""FLG002, FLG003, FLG008: how many values a flag gets, and which."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.flags.base import FlagRule, counted, place, shown
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.flags.programs import Program
    from example_sanity.core.finding import Finding
    from example_sanity.schema.argparse.matching import Use
    from example_sanity.schema.argparse.table import Flag

# What a command prints and what the caller's arguments are is not known here.
_ELSEWHERE = regex(r"[\"']*(?:\$\((?!\()|`|\$\{?[1-9@*])")
_LAUNCHER = "examples/gpt/run_gpt_megatron.sh"
_FILES = {
    "train.py": (
        "import argparse\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--schedule", help="steps and sizes")\n'
        'parser.add_argument("--lr", type=float)\n'
        'parser.add_argument("--decay", choices=["cosine", "linear"])\n'
        "args = parser.parse_args()\n"
    )
}


def _example(text: str) -> Example:
    return Example(text, _LAUNCHER, _FILES)


class FlagArity(FlagRule):
    """A flag gets fewer values than it needs, or a word is left that belongs to no flag.

    argparse stops in both cases. Words are left over where an array is expanded without quotes: a value with spaces
    becomes several words. A flag without its value is an info where the script gives it a variable that is empty by
    default: the user is meant to set it.
    """

    code = "FLG002"
    name = "flag-arity"
    summary = "a flag gets too few values, or words are left over"
    source = "the parser of the program; argparse, nargs"
    bad = (_example('ARGS=(--schedule "0:16 2B:32")\ntorchrun train.py ${ARGS[@]}\n'),)
    good = (_example('ARGS=(--schedule "0:16 2B:32")\ntorchrun train.py "${ARGS[@]}"\n'),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        for use in program.reading.uses:
            if use.flags and use.count < min(flag.least for flag in use.flags):
                yield from self._too_few(program, use)
        yield from self._left_over(program)

    def _too_few(self, program: Program, use: Use) -> Iterator[Finding]:
        after = use.word + use.count + 1
        near = [index for index in range(use.word, after + 1) if index < len(program.words)]
        if not program.stable(*near):
            return
        least = min(flag.least for flag in use.flags)
        source = place(program, use.word)[1]
        if _ELSEWHERE.match(source):
            return
        variable = re.match(r"[\"']*(\$[^\s)\"']*)", source)
        reason = f": {variable[1]} is empty" if variable else ""
        yield self._at(
            program,
            use.word,
            f"{use.name} needs {counted(least, 'value')} and gets {use.count or 'none'}{reason}",
            Severity.INFO if variable else None,
        )

    def _left_over(self, program: Program) -> Iterator[Finding]:
        if program.table.takes_operands:
            return
        for words in _runs(program.reading.operands):
            if not program.stable(*words):
                continue
            use = next((use for use in program.reading.uses if _end(use) == words[0]), None)
            listed = " ".join(program.words[index] for index in words)
            if use is None or not use.flags:
                yield self._at(program, words[0], f"{program.path} takes no argument {shown(listed)!r}")
            else:
                given = [program.words[index] for index in (*use.values, *words)]
                placeholder = re.search(r"<[^<>]+>", " ".join(given))
                severity = Severity.INFO if placeholder else None
                yield self._at(program, use.word, _too_many(program, use, words), severity)


def _end(use: Use) -> int:
    return use.word + 1 + len(use.values)


def _runs(indexes: list[int]) -> list[list[int]]:
    """Return indexes that follow each other as one run."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _too_many(program: Program, use: Use, words: list[int]) -> str:
    """Say that a flag gets too many values, and why where the source shows it."""
    most = max(flag.most or 0 for flag in use.flags)
    rest = " ".join(program.words[index] for index in words)
    message = f"{use.name} takes {counted(most, 'value')} and gets {use.count + len(words)}; left over: {shown(rest)}"
    source = place(program, use.word)[1]
    group = program.origin(use.word).group
    if use.values and source.startswith("$"):
        return f"{message} (the value is split at its spaces: write {source.split()[0]} in double quotes)"
    if use.values and source.startswith(("'", '"')) and f"{program.words[use.values[-1]]} {rest}" in source:
        quoted = f'"${{{group}[@]}}"' if group else "the array in double quotes"
        return f"{message} (the value is split where its array is expanded: write {quoted})"
    return message


class FlagBadChoice(FlagRule):
    """A value that is not among the choices of its flag.

    argparse compares after the conversion to the type of the flag, and stops.
    """

    code = "FLG003"
    name = "flag-bad-choice"
    summary = "a value is not among the choices of its flag"
    source = "the parser of the program; argparse, choices"
    bad = (_example("torchrun train.py --decay cosin\n"),)
    good = (_example("torchrun train.py --decay cosine\n"),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        for use, index, value in _values(program):
            if value and all(_refuses(flag, value) for flag in use.flags):
                choices = use.flags[0].choices or ()
                best = nearest(value, choices)
                hint = f"; the nearest is {best}" if best else ""
                listed = ", ".join(choices[:12]) + (", ..." if len(choices) > 12 else "")
                yield self._at(
                    program, index, f"{use.name} does not take {shown(value)!r}, only {listed}{hint}"
                )


def _values(program: Program) -> Iterator[tuple[Use, int, str]]:
    """Yield each value that depends on no placeholder, with its flag and the index of its word."""
    for use in program.reading.uses:
        if not use.flags:
            continue
        if use.attached is not None and program.stable(use.word):
            yield use, use.word, use.attached
        for index in use.values:
            if program.stable(use.word, index):
                yield use, index, program.words[index]


def _refuses(flag: Flag, value: str) -> bool:
    if flag.choices is None:
        return False
    if flag.type in ("int", "float"):
        converted = _converted(flag.type, value)
        return converted is not None and converted not in [
            _converted(flag.type, item) for item in flag.choices
        ]
    return flag.type in (None, "str", "enum") and value not in flag.choices


def _converted(kind: str | None, value: str) -> float | None:
    """Return the number that argparse makes of a text, None where it cannot."""
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError:
        return None


class FlagWrongType(FlagRule):
    """A value that is not the number that its flag takes.

    ``int("1e6")`` and ``int("0.5")`` fail, so does ``float("1e-5,")``. An empty value is an info: the script leaves it
    to the user.
    """

    code = "FLG008"
    name = "flag-wrong-type"
    summary = "a value is not the number that its flag takes"
    source = "the parser of the program; argparse, type"
    bad = (_example("torchrun train.py --lr high\n"),)
    good = (_example("torchrun train.py --lr 1e-5\n"),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        for use, index, value in _values(program):
            kinds = {flag.type for flag in use.flags}
            if kinds <= {"int", "float"} and all(_converted(kind, value) is None for kind in kinds):
                kind = "a whole number" if kinds == {"int"} else "a number"
                text = f"{use.name} takes {kind}, and {shown(value)!r} is none"
                if value:
                    yield self._at(program, index, text)
                else:
                    yield self._at(
                        program, index, f"{use.name} takes {kind} and gets an empty value", Severity.INFO
                    )
