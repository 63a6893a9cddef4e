"""FLG010: files that a launcher hands its program and the repository does not have."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from example_sanity.checks.docs.files import files_of
from example_sanity.checks.docs.mentions import is_placeholder
from example_sanity.checks.docs.sources import FILE, OUTPUT, is_missing, nearby
from example_sanity.core.errors import Uninspectable
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Finding, Span
    from example_sanity.launch.command import Command, Entry, Launch

_FILES = {"configs/debug.toml": "steps = 1\n", "train.py": "print(1)\n"}
_LAUNCHER = "examples/ppo/run_a_fsdp.sh"


class MissingInput(Rule):
    """A launcher hands its program a file of the repository that is not there.

    Mostly the default of a variable (``${CONFIG:-configs/debug.toml}``) that was not moved with the file. A path counts
    as one of the repository when it begins in a folder that this has; it may be relative to the root or to the launcher.
    What the program writes, what depends on a value that is made up, what the launcher makes itself, and what a comment, a
    script or a README beside it says how to get is passed over.
    """

    code = "FLG010"
    name = "missing-input"
    summary = "a launcher names a file that does not exist"
    subject = Subject.LAUNCH
    bad = (
        Example(
            "CONFIG=${CONFIG:-configs/debgu.toml}\npython3 train.py --config $CONFIG\n", _LAUNCHER, _FILES
        ),
    )
    good = (
        Example(
            "CONFIG=${CONFIG:-configs/debug.toml}\npython3 train.py --config $CONFIG\n", _LAUNCHER, _FILES
        ),
    )

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Look for the files among the arguments of each program."""
        launch = cast("Launch", subject)
        files = files_of(context)
        for entry in launch.entries:
            for index, path in _arguments(entry):
                made = posixpath.basename(path) in _written(launch) or _is_fetched(path, launch, context)
                if not made and is_missing(path, launch.script.path, files):
                    yield self.finding(
                        *_origin(entry.command, index),
                        f"{path} does not exist{nearby(path, files)}",
                        scenarios=(launch.scenario.name,),
                    )


def _arguments(entry: Entry) -> Iterator[tuple[int, str]]:
    """Yield the arguments that may be files to read, with their indexes in the command."""
    argv = entry.command.argv
    for index in entry.arguments:
        if index in entry.command.unstable:
            continue
        name, equals, value = argv[index].partition("=")
        if not equals:
            value, name = name, argv[index - 1] if argv[index - 1].startswith("-") else ""
        if FILE.fullmatch(value.strip("\"'")) and not OUTPUT.search(name) and not is_placeholder(value):
            yield index, value.strip("\"'")


def _written(launch: Launch) -> set[str]:
    """The names of the files that a launcher may make: those that a redirection or a command like ``cp`` names."""
    text = launch.script.text
    made = re.findall(r"(?m)(?:>|\b(?:tee|wget|curl|cp|mv|ln|touch|tar|unzip|clone)\b)([^\n]*)", text)
    words = [_expanded(word.strip("\"'"), launch) for rest in made for word in rest.split()]
    return {posixpath.basename(word) for word in words}


def _expanded(word: str, launch: Launch) -> str:
    """A word with the values of the variables that it names, as they are when the launcher ends."""
    return re.sub(r"\$\{?(\w+)\}?", lambda name: launch.variables.get(name[1], name[0]), word)


def _is_fetched(path: str, launch: Launch, context: Context) -> bool:
    """Whether a link of the launcher, or what stands where the file would be, names it: then the user gets it first."""
    name, folder = posixpath.basename(path), posixpath.dirname(posixpath.normpath(path))
    if re.search(rf"https?://\S*/{re.escape(name)}\b", launch.script.text):
        return True
    beside = (file for file in context.project.files if posixpath.dirname(file) == folder)
    telling = (
        file for file in beside if file.endswith((".sh", ".md", ".rst")) and file != launch.script.path
    )
    return any(name in _text(file, context) for file in telling)


def _text(path: str, context: Context) -> str:
    try:
        return context.project.text(path)
    except Uninspectable:
        return ""


def _origin(command: Command, index: int) -> tuple[str, Span]:
    origin = command.origins[index] if index < len(command.origins) else command.site
    return origin.path, origin.span
