"""FLG001, FLG004, FLG005, FLG006: flags that the program does not know, or knows by another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.flags.base import FlagRule
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Severity
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.flags.programs import Program
    from example_sanity.core.finding import Finding
    from example_sanity.schema.argparse.matching import Use

_LAUNCHER = "examples/gpt/run_gpt_megatron.sh"
_PROGRAM = (
    "import argparse\n\n"
    "parser = argparse.ArgumentParser()\n"
    'parser.add_argument("--micro-batch-size", type=int)\n'
    'parser.add_argument("--lr", type=float, help="Deprecated: use --max-lr.")\n'
    'parser.add_argument("--max-lr", type=float)\n'
)
_STRICT = {"train.py": _PROGRAM + "args = parser.parse_args()\n"}
_LENIENT = {"train.py": _PROGRAM + "args, _ = parser.parse_known_args()\n"}


def _example(flags: str, files: dict[str, str]) -> Example:
    return Example(f"torchrun --nproc-per-node 8 train.py {flags}\n", _LAUNCHER, files)


def unknown(program: Program) -> Iterator[Use]:
    """Yield the flags that no parser of the program knows; none where some of its flags could not be read."""
    table = program.table
    if table.unresolved:
        return
    for use in program.reading.uses:
        if not use.flags and not table.owned(use.written) and program.stable(use.word):
            yield use


def suggestion(use: Use, program: Program) -> str:
    """Return what became of a flag where its history tells, else the known flag that looks most like it."""
    from example_sanity.schema.argparse.history import fate

    known = program.table.known
    gone = fate(use.written, program.table)
    renamed = gone is not None and gone.name in known
    best = gone.name if gone and renamed else nearest(use.written, known, 75)
    when = f"; {'renamed' if renamed else 'removed'} in {gone}" if gone else ""
    if best is None:
        return when
    flag = known[best][0]
    place = f" ({flag.path}:{flag.line})" if flag.path else ""
    return f"{when}: use {best}{place}" if renamed else f"{when}; the nearest is {best}{place}"


class UnknownFlag(FlagRule):
    """A flag that the program does not have.

    All parsers that read the command line are read from the source, without importing it: flags in helpers and loops,
    in groups made of dataclasses, in imported modules and in patches. argparse stops on a flag that none of them has,
    on every rank, after the job was scheduled. Where the history of the framework is shipped (Megatron-LM), the message
    says in which release the flag was renamed or removed. Where a part of the flags cannot be read, nothing is said.
    """

    code = "FLG001"
    name = "unknown-flag"
    summary = "the program has no such flag, so it stops before it starts"
    source = "the parser of the program; argparse, parse_args()"
    bad = (_example("--micro-batchsize 1", _STRICT),)
    good = (_example("--micro-batch-size 1", _STRICT),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        if program.table.lenient:
            return
        for use in unknown(program):
            yield self._at(
                program,
                use.word,
                f"{program.path} has no flag {use.written}, and {program.table.library} stops on it{suggestion(use, program)}",
            )


class DeprecatedFlag(FlagRule):
    """A flag whose help begins with saying that it is deprecated.

    It works today. The message repeats what the help says, which mostly names what to use instead.
    """

    code = "FLG004"
    name = "deprecated-flag"
    summary = "the help of a flag says that it is deprecated"
    severity = Severity.INFO
    source = "the parser of the program"
    bad = (_example("--lr 1e-5", _STRICT),)
    good = (_example("--max-lr 1e-5", _STRICT),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        for use in program.reading.uses:
            if use.flags and all(flag.deprecated for flag in use.flags) and program.stable(use.word):
                flag = use.flags[0]
                yield self._at(
                    program,
                    use.word,
                    f"{use.name} is deprecated ({flag.path}:{flag.line}): {flag.deprecated}",
                )


class AbbreviatedFlag(FlagRule):
    """A flag that is written as the beginning of its name.

    argparse accepts that as long as no other flag begins so; the next release of the program may have one. Where two
    begin so already, argparse stops: that is an error.
    """

    code = "FLG005"
    name = "abbreviated-flag"
    summary = "a flag is cut short, which works only until another one begins the same way"
    severity = Severity.WARNING
    source = "argparse, allow_abbrev"
    bad = (_example("--micro 1", _STRICT),)
    good = (_example("--micro-batch-size 1", _STRICT),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        table = program.table
        for use in program.reading.uses:
            if not use.abbreviated or table.unresolved or table.owned(use.written):
                continue
            if not program.stable(use.word):
                continue
            meant = _meanings(use)
            if len(meant) == 1:
                yield self._at(program, use.word, f"{use.written} is short for {use.name}; write {use.name}")
            else:
                listed = ", ".join(meant[:4])
                yield self._at(
                    program,
                    use.word,
                    f"{use.written} may be any of {len(meant)} flags ({listed}), and argparse stops on it",
                    Severity.ERROR,
                )


def _meanings(use: Use) -> list[str]:
    """The flags that an abbreviation may mean, by the first name of each that fits."""
    found = {flag.names: next(name for name in use.matches if name in flag.names) for flag in use.flags}
    return list(found.values())


class IgnoredFlag(FlagRule):
    """A flag that no parser of the program knows, and that is dropped without a word.

    The program calls ``parse_known_args()`` and looks at the first half of the result only. A misspelt flag has no
    effect then, and no message says so: the run goes on with the default.
    """

    code = "FLG006"
    name = "ignored-flag"
    summary = "the program drops the flag silently, because none of its parsers knows it"
    severity = Severity.WARNING
    source = "the parser of the program; argparse, parse_known_args()"
    bad = (_example("--micro-batchsize 1", _LENIENT),)
    good = (_example("--micro-batch-size 1", _LENIENT),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        if not program.table.lenient:
            return
        for use in unknown(program):
            yield self._at(
                program,
                use.word,
                f"{program.path} drops {use.written} silently: none of its parsers knows it"
                f"{suggestion(use, program)}",
            )
