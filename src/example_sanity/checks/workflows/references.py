"""Which files commands run or read: programs, scripts, tests, requirements, through whatever starts them."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from example_sanity.checks.workflows.expressions import WORKSPACE
from example_sanity.checks.workflows.shelltext import Call, Shell
from example_sanity.checks.workflows.words import is_known
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.launch.command import Command, Origin
from example_sanity.launch.entry import entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NOWHERE = Origin("", Span())
_SHELL = regex(r"(?:ba|da|z)?sh")
_CONTAINERS = ("docker", "podman", "kubectl", "ssh", "nerdctl", "apptainer", "singularity")
# Options of pytest that take a value of their own; what follows is no path.
_PYTEST_VALUES = frozenset(
    [
        "-k",
        "-m",
        "-c",
        "-o",
        "-p",
        "-n",
        "-W",
        "-r",
        "--ignore",
        "--ignore-glob",
        "--deselect",
        "--durations",
        "--maxfail",
        "--timeout",
        "--junitxml",
        "--junit-xml",
        "--cov",
        "--cov-config",
        "--cov-report",
        "--confcutdir",
        "--rootdir",
        "--basetemp",
        "--log-file",
        "--log-level",
        "--tb",
        "--dist",
        "--numprocesses",
        "--color",
        "--import-mode",
        "--override-ini",
        "--reruns",
        "--reruns-delay",
        "--splits",
        "--group",
        "--forked",
        "--html",
        "--capture",
        "--log-cli-level",
    ]
)


class Reference(msgspec.Struct, frozen=True):
    """A file that a command needs. ``kind`` is program, script, source, test, module or requirements.

    ``path`` is as written; a test may have ``::`` behind the file. ``word`` is the index of the word in ``call.words``.
    """

    kind: str
    path: str
    word: int
    call: Call

    @property
    def file(self) -> str:
        """The path without what selects tests in it."""
        return self.path.partition("::")[0].partition("[")[0] if self.kind == "test" else self.path

    @property
    def place(self) -> str | None:
        """The path relative to the repository, None where it is not known or lies outside."""
        if (
            self.kind == "module"
            or not is_known(self.file)
            or self.file.startswith("~")
            or re.search(r"[*?{}<>]", self.file)
        ):
            return None
        if self.call.folder is None and not self.file.startswith("/"):
            return None
        whole = posixpath.normpath(posixpath.join(self.call.folder or "/", self.file))
        if whole == WORKSPACE:
            return ""
        inside = whole.removeprefix(WORKSPACE + "/")
        return inside if inside != whole else None


def references(shell: Shell) -> Iterator[Reference]:
    """Yield the files that the commands of shell text need, those of text in ``bash -c`` included."""
    for call in shell.calls:
        yield from of_call(call, shell)


def of_call(call: Call, shell: Shell) -> Iterator[Reference]:
    """Yield the files that one command needs."""
    words = call.words
    if call.name in ("source", ".") and len(words) > 1:
        yield Reference("source", words[1], 1, call)
    elif call.name in _CONTAINERS:
        yield from _inside(call, shell)
    else:
        yield from _requirements(call)
        yield from _programs(call)


def _programs(call: Call) -> Iterator[Reference]:
    """What a command starts. In front of ``srun`` every way to start something is recognised, a script by itself, too."""
    words, index = list(call.words), list(range(len(call.words)))
    for at, word in enumerate(call.words):
        if word.rpartition("/")[2] in ("pytest", "py.test") and call.words[at - 1 : at] != ("-m",):
            words[at : at + 1], index[at : at + 1] = ["python3", "-m", "pytest"], [at] * 3
            break
    command = Command(("srun", *words), {}, 0, _NOWHERE)
    for entry in entries([command]):
        inner = entry.command is not command
        first = entry.arguments[0] if entry.arguments else len(entry.command.argv)
        at = len(call.words) - 1 if inner else index[min(first - 2, len(index) - 1)]
        if entry.module in ("pytest", "pytest.__main__"):
            shown = [entry.command.argv[item] for item in entry.arguments]
            yield from _tests(call, shown, at, inner)
        elif entry.module is not None:
            yield Reference("module", entry.module, at, call)
        # A bare name is looked for on PATH.
        elif entry.file is not None and (at > 0 or "/" in entry.file):
            kind = "program" if entry.file.endswith(".py") else "script"
            yield Reference(kind, entry.file, at, call)


def _tests(call: Call, arguments: Sequence[str], at: int, inner: bool) -> Iterator[Reference]:
    skip = False
    for offset, word in enumerate(arguments, 1):
        if skip or word.startswith("-"):
            skip = not skip and word in _PYTEST_VALUES
        elif "/" in word or word.partition("::")[0].endswith(".py"):
            yield Reference("test", word, at if inner else min(at + offset, len(call.words) - 1), call)


def _requirements(call: Call) -> Iterator[Reference]:
    """Files that pip is told to install from."""
    words = call.words
    if (
        not any(word.rpartition("/")[2] in ("pip", "pip3") for word in words[:4])
        or "install" not in words[:6]
    ):
        return
    for at, word in enumerate(words[:-1]):
        if word in ("-r", "--requirement", "-c", "--constraint"):
            yield Reference("requirements", words[at + 1], at + 1, call)


def _inside(call: Call, shell: Shell) -> Iterator[Reference]:
    """What runs in a container: ``docker run … bash -c 'text'``. Its folder is the repository only where ``-w`` says so."""
    words = call.words
    folder = next(
        (
            words[at + 1]
            for at, word in enumerate(words[:-1])
            if word in ("-w", "--workdir") and is_known(words[at + 1])
        ),
        None,
    )
    for at in range(1, len(words) - 2):
        if _SHELL.fullmatch(words[at].rpartition("/")[2]) and re.fullmatch(r"-\w*c", words[at + 1]):
            inner = Shell(
                words[at + 2], {**shell.environment, **dict(_handed_over(words))}, folder, files=shell.files
            )
            for found in references(inner):
                places = (call.places[at + 2],) * len(found.call.words)
                yield replace(found, call=replace(found.call, places=places))
            return


def _handed_over(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What ``-e NAME=value`` sets in a container."""
    for option, word in pairwise(words):
        name, equals, value = word.partition("=")
        if option in ("-e", "--env") and equals:
            yield name, value
