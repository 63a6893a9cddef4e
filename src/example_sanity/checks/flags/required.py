"""FLG009: a launcher that leaves out a flag without which the program stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.flags.base import FlagRule
from example_sanity.checks.importing import forwards
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.flags.programs import Program
    from example_sanity.core.finding import Finding
    from example_sanity.schema.argparse.table import Flag

_FILES = {
    "train.py": (
        "import argparse\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--data-path", required=True)\n'
        'parser.add_argument("--lr", type=float)\n'
        "args = parser.parse_args()\n"
    )
}
_LAUNCHER = "examples/gpt/run_gpt_megatron.sh"
# A variable that grows by the script's own arguments: what it holds in the end is the caller's.
_COLLECTS = regex(r"(?m)^(?!\s*#).*?\b(\w+)(?:\+=\(?|=[\"']?\$\{?\1\b\}?)[^\n;]*\$\{?[1-9]\b")


class MissingRequiredFlag(FlagRule):
    """A flag is left out that the program's parser requires.

    argparse stops on that. Nothing is said where a word of the command depends on what the user sets, where the flag is
    only added under a condition, or where a file of settings may give it (``--config``). A warning where the launcher
    hands on its own arguments: then the caller may give it.
    """

    code = "FLG009"
    name = "missing-required-flag"
    summary = "a flag is left out that the program requires"
    source = "the parser of the program; argparse, required"
    bad = (Example("torchrun train.py --lr 1e-5\n", _LAUNCHER, _FILES),)
    good = (Example("torchrun train.py --data-path data --lr 1e-5\n", _LAUNCHER, _FILES),)

    def _judge(self, program: Program, context: Context) -> Iterator[Finding]:
        del context
        used = {name for use in program.reading.uses for flag in use.flags for name in flag.names}
        missing = [flag for flag in program.table.flags if flag.required and not used & {*flag.names}]
        if not missing or not self._is_certain(program):
            return
        may_come = forwards(program.launch.script)
        by_caller = ' (or the caller\'s "$@" does)' if may_come else ""
        yield self._at(
            program,
            0,
            f"{program.path} requires {_listed(missing)}, and the launcher does not give "
            f"{'it' if len(missing) == 1 else 'them'}{by_caller}",
            Severity.WARNING if may_come else None,
        )

    def _is_certain(self, program: Program) -> bool:
        names = {name for use in program.reading.uses for name in (use.written, use.name)}
        by_file = any("config" in name for name in names) or any(
            word.endswith((".yaml", ".yml", ".json")) and not program.table.positionals
            for word in (program.words[index] for index in program.reading.operands)
        )
        stable = program.stable(*range(len(program.words)))
        return not by_file and stable and not _COLLECTS.search(program.launch.script.text)


def _listed(flags: list[Flag]) -> str:
    shown = [f"{flag.names[0]} ({flag.path}:{flag.line})" if flag.path else flag.names[0] for flag in flags]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
