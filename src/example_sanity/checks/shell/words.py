"""SHL005, SHL006: words of an evaluated command that the program will not take as they were meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.shell.launched import LaunchRule
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.core.finding import Finding
    from example_sanity.launch.command import Command, Entry, Launch

_ASSIGNMENT = regex(r"([A-Z][A-Z0-9]*_[A-Z0-9_]*|OMP|PYTHONPATH)=.*", re.DOTALL)
# Programs that start the training by themselves, and read variables that torchrun would take as options.
_TRAINERS = frozenset({"swift", "megatron", "llamafactory-cli", "xtuner", "axolotl", "trl", "tune"})
_QUOTED = regex(r"(?:--?[\w-]+=)?(?:\"([^\"]*)\"|'([^']*)')", re.DOTALL)
_OF_A_SHELL = regex(r"&&|\|\|?|;|&|\$\w+(?:/\S*)?")
_NESTED = regex(rb"\"'|'\"|\\[\"']|@Q\}")
_NAMES = rb"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|OMP|PYTHONPATH)="
_NAME = regex(rb"(?<![^\s\"'(=:+-])" + _NAMES)
_SEPARATOR = regex(rb"[;&|(){}`]")
# What may stand between the start of a command and an assignment that is one.
_IN_FRONT = regex(
    rb"\s*(?:(?:export|declare|typeset|local|readonly|env|then|do|else|if|!|-\w+)\s+)*(?:\w+\+?=\S*\s+)*"
)
_INSIDE = regex(rb"=(?:\((?:[^()]|\([^()]*\))*|\"[^\"]*|'[^']*)(?<=[\s(\"'])" + _NAMES)
_SCRIPT = (".sh", ".bash", ".slurm", ".sbatch")


def _is_word(text: bytes, place: int) -> bool:
    """Whether what begins at a place is no assignment at the start of a command, as far as its line tells."""
    line = text[text.rfind(b"\n", 0, place) + 1 : place]
    return not line.lstrip().startswith(b"#") and not _IN_FRONT.fullmatch(_SEPARATOR.split(line)[-1])


class WordRule(LaunchRule):
    """A rule that looks at the words of each command that starts a program."""

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Judge the arguments of every entry that is no shell script."""
        launch = cast("Launch", subject)
        for entry in launch.entries:
            if not (entry.file or "").endswith(_SCRIPT):
                yield from self._judge(entry, launch)

    def _judge(self, entry: Entry, launch: Launch) -> Iterator[Finding]:
        raise NotImplementedError


class AssignmentAfterCommand(WordRule):
    """``NAME=value`` stands behind the command, where it is an argument and no variable.

    Only assignments in front of a command are its environment. The program gets the text as an argument: most parsers
    stop, and those that ignore what they do not know run with the variable unset.
    """

    code = "SHL005"
    name = "assignment-after-command"
    summary = "an environment variable is set behind the command"
    source = "Bash manual, 3.7.4 Environment; ms-swift issue 3681"
    bad = (
        Example("torchrun train.py --lr 1e-6 NPROC_PER_NODE=8\n"),
        Example("swift sft --model m NPROC_PER_NODE=8\n"),
    )
    good = (
        Example("NPROC_PER_NODE=8 torchrun train.py --lr 1e-6\n"),
        Example("env OMP_NUM_THREADS=8 python3 train.py trainer.nnodes=1\n"),
        Example("python3 train.py --env OMP_NUM_THREADS=8\n"),
    )

    @classmethod
    def could_find(cls, text: bytes) -> bool:
        """Whether there is an assignment that stands behind another word, or in a list or string."""
        joined = text.replace(b"\\\n", b" ")
        places = _NAME.finditer(joined)
        return any(_is_word(joined, match.start()) for match in places) or _INSIDE.search(joined) is not None

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Judge the arguments of every entry, and those of trainers that are programs of their own."""
        yield from super().check(subject, context)
        launch = cast("Launch", subject)
        for command in launch.commands:
            if command.argv[0].rpartition("/")[2] in _TRAINERS:
                yield from self._words(command, range(1, len(command.argv)), launch)

    def _judge(self, entry: Entry, launch: Launch) -> Iterator[Finding]:
        yield from self._words(entry.command, entry.arguments, launch)

    def _words(self, command: Command, indexes: Iterable[int], launch: Launch) -> Iterator[Finding]:
        for index in indexes:
            match = _ASSIGNMENT.fullmatch(command.argv[index])
            # Behind an option it is that option's value.
            if match and not command.argv[index - 1].startswith("-"):
                origin = command.origins[index]
                yield self.finding(
                    origin.path,
                    origin.span,
                    f"{match[0]} stands behind the command, so it is an argument and {match[1]} stays as it was; "
                    "write it in front of the command, or export it",
                    scenarios=(launch.scenario.name,),
                )


class LiteralQuotes(WordRule):
    """An argument holds its quotes: they were quoted themselves, so the shell did not take them off.

    ``--path "'$DIR'"`` gives the program a path that begins with a quote. Hydra overrides and JSON are not judged, as
    Hydra takes quotes off and JSON needs them; nor are words of a command that another shell reads again, as operators
    and variables among them show that are quoted as well (``submit -- a \\&\\& b``).
    """

    code = "SHL006"
    name = "literal-quotes"
    summary = "an argument is passed with its quotes"
    severity = Severity.WARNING
    source = "Bash manual, 3.5.9 Quote Removal: quotes that come out of an expansion stay; OpenRLHF issue 978"
    bad = (Example("DIR=\"'/data/x'\"\npython3 train.py --data $DIR\n"),)
    good = (
        Example("DIR='/data/x'\npython3 train.py --data $DIR\n"),
        Example("python3 train.py --config '{\"lr\": 1}'\n"),
        Example("python3 -m verl.trainer.main_ppo trainer.logger='[\"console\"]' model.path=\"'a b'\"\n"),
    )

    @classmethod
    def could_find(cls, text: bytes) -> bool:
        """Whether there are quotes within quotes, or an expansion that adds some."""
        return bool(_NESTED.search(text))

    def _judge(self, entry: Entry, launch: Launch) -> Iterator[Finding]:
        if any(map(_OF_A_SHELL.fullmatch, entry.command.argv)):
            return
        for index in entry.arguments:
            word = entry.command.argv[index]
            match = _QUOTED.fullmatch(word)
            inside = (match[1] or match[2] or "") if match else ""
            # With a variable that nothing has put in, the word is one of a text for another shell.
            if inside and not re.search(r"\$[\w{]", inside):
                origin = entry.command.origins[index]
                yield self.finding(
                    origin.path,
                    origin.span,
                    f"the program gets {word} with its quotes; take away the inner ones, so that it gets {inside}",
                    scenarios=(launch.scenario.name,),
                )
