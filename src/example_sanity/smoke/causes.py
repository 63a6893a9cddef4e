"""Why a run did not pass: the kinds of causes, and the line of a log that shows one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from example_sanity.core.regex import regex
from example_sanity.smoke.tail import LogLine

Blame = Literal["launcher", "surroundings"]


class Cause(NamedTuple):
    """One kind of failure.

    ``patterns`` find the line that shows it in a cleaned log; named groups may stand in ``says`` (what is wrong) and
    ``advice`` (the smallest change that fixes it) as ``{name}``, and ``{raised}`` for the last frame of the traceback above it
    (" (raised at FILE:LINE, in FUNCTION)", or nothing). ``follows``: it is mostly the consequence of another
    failure, which then counts. ``blame`` is ``surroundings`` where it says nothing about the launcher: without a step, the
    run could not start. ``retry``: a second attempt is worth its time.
    """

    kind: str
    says: str
    advice: str
    patterns: tuple[str, ...] = ()
    follows: bool = False
    blame: Blame = "launcher"
    retry: bool = False


class Evidence(msgspec.Struct, frozen=True):
    """A cause in one run: its kind, what is wrong, what to do, and the line (from 1) of the log that shows it.

    ``line`` is "" and ``line_number`` None where no line shows it. ``context`` are lines before it that say what the run
    was doing.
    """

    kind: str
    message: str
    advice: str
    line: str = ""
    line_number: int | None = None
    context: tuple[LogLine, ...] = ()


class Sighting(NamedTuple):
    """A line of a log in which a pattern of a cause was found."""

    cause: Cause
    groups: dict[str, str]
    line: str
    number: int

    @property
    def evidence(self) -> Evidence:
        """The cause with the words of the line."""
        message, advice = (_filled(text, self.groups) for text in (self.cause.says, self.cause.advice))
        return Evidence(self.cause.kind, message, advice, self.line.strip(), self.number)


# An exception that nobody caught, as Python prints it: no indentation, a class, a colon.
_EXCEPTION = regex(
    r"^(?:E +)?(?P<kind>(?:\w+\.)*(?:[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|Fault)))(?:: (?P<text>.*)|$)"
)
# Exceptions of those who only pass on that something else failed.
_SECOND_HAND = regex(
    r"ChildFailedError|CalledProcessError|RayTaskError|SystemExit|KeyboardInterrupt|BrokenPipeError"
)
# What interpreters say that shut down, and the trace of a shell (set -x), which may hold any text.
_IDLE_TALK = regex(r"^Exception ignored|is (?:likely )?shutting down|^\++ ")
_WIDEST = 2000
UNCAUGHT = Cause(
    "exception",
    "the program ended with an exception: {text}",
    "read the traceback above this line in the log; the last frame outside of libraries is where to look{raised}",
)
_FRAME = regex(r'^\s+File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S.*))?$')
# Frames of installed packages, of the standard library, and of code that is no file (templates, frozen modules).
_LIBRARY = regex(r"/(?:site|dist)-packages/|/lib/python\d|^<")


class Frames:
    """The frames of the traceback that a log is in the midst of."""

    def __init__(self) -> None:
        self._last = self._own = ""

    def look(self, line: str) -> None:
        """Take in a line: a frame counts until the first line after the traceback."""
        if (found := _FRAME.match(line)) is not None:
            function = f", in {found['function']}" if found["function"] else ""
            self._last = f"{found['file']}:{found['line']}{function}"
            if not _LIBRARY.search(found["file"]):
                self._own = self._last
        elif not line.startswith(" "):
            self._last = self._own = ""

    @property
    def raised(self) -> str:
        """The last frame outside of libraries, else the last one, as ``{raised}`` of a cause."""
        place = self._own or self._last
        return f" (raised at {place})" if place else ""


class Search:
    """Looks through the lines of a log, one by one, for what shows a cause."""

    def __init__(self, causes: Sequence[Cause]) -> None:
        self._causes = causes
        self._last: dict[bool, Sighting] = {}
        self._uncaught: Sighting | None = None
        self._frames = Frames()

    def look(self, line: str, number: int) -> None:
        """Take in a cleaned line."""
        # Programs print whole configurations on one line; what shows a cause stands at its begin.
        line = line[:_WIDEST]
        if not line or _IDLE_TALK.search(line):
            return
        self._take(line, number)
        self._frames.look(line)

    def survive(self) -> None:
        """Forget what was seen so far: the program went on after it."""
        self._last, self._uncaught = {}, None

    def _take(self, line: str, number: int) -> None:
        raised = {"raised": self._frames.raised}
        if (found := _sighting(self._causes, line, number)) is not None:
            found = found._replace(groups={**found.groups, **raised})
            # Of causes the last counts: earlier ones were caught, or the program would have ended there. Of
            # consequences it is the first, since each has further ones.
            if not (found.cause.follows and True in self._last):
                self._last[found.cause.follows] = found
        elif _EXCEPTION.match(line) and not _SECOND_HAND.search(line):
            self._uncaught = Sighting(UNCAUGHT, {"text": line.strip(), **raised}, line, number)

    @property
    def found(self) -> Sighting | None:
        """The most telling line so far: a cause, else an exception that no consequence precedes, else a consequence."""
        follows = self._last.get(True)
        if self._uncaught is not None and follows is not None and follows.number < self._uncaught.number:
            return self._last.get(False) or follows
        return self._last.get(False) or self._uncaught or follows


def search(lines: Iterable[str], causes: Sequence[Cause]) -> Sighting | None:
    """Return the line that shows best why a run failed, None where no line does."""
    looking = Search(causes)
    for number, line in enumerate(lines, 1):
        looking.look(line, number)
    return looking.found


def _sighting(causes: Sequence[Cause], line: str, number: int) -> Sighting | None:
    if not _any(tuple(causes)).search(line):
        return None
    for cause in causes:
        for pattern in _compiled(cause.patterns):
            if (found := pattern.search(line)) is not None:
                groups = {name: text or "" for name, text in found.groupdict().items()}
                return Sighting(cause, groups, line, number)
    return None


@cache
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


@cache
def _any(causes: tuple[Cause, ...]) -> re.Pattern[str]:
    """One pattern for all, since most lines have nothing; names of groups may occur only once in it."""
    every = (pattern for cause in causes for pattern in cause.patterns)
    return re.compile("|".join(re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern in every))


def _filled(text: str, groups: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: groups.get(found[1], found[0]), text)
