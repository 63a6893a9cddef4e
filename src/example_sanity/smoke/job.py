"""A launcher that runs somewhere, and the log that it writes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from example_sanity.core.regex import regex
from example_sanity.smoke.causes import Evidence
from example_sanity.smoke.plan import SmokePlan

_END = regex(rb"\r\n|\n|\r")
# Logs are read while they are written, so by a program's own output only, not by what Python holds back.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


class CannotStart(Exception):
    """The launcher could not be started; nothing of it ran."""

    def __init__(self, kind: str, message: str, advice: str) -> None:
        super().__init__(message)
        self.evidence = Evidence(kind, message, advice)


class Job(Protocol):
    """One started launcher. ``where`` and ``number`` say where it runs, and what it is called there.

    ``pid`` is the process of this machine that all of the run lies below, None where it runs elsewhere.
    """

    where: str
    number: str | None
    pid: int | None

    def poll(self) -> int | None:
        """Return the exit status, None while it has not ended; what it wrote until then is in the log afterwards."""

    def has_begun(self) -> bool:
        """Return whether it runs, or ran: a job of a cluster may have to wait for its turn."""

    def stop(self) -> None:
        """End it and everything that it started; ``poll`` returns a status afterwards."""


def environment(plan: SmokePlan) -> Mapping[str, str]:
    """Return the variables that are set for the launcher, wherever it runs."""
    return {**UNBUFFERED, **plan.environment}


def command_line(plan: SmokePlan) -> str:
    """Return the command line that repeats the run by hand, from the root of the project."""
    words = [f"{name}={value}" for name, value in sorted(plan.environment.items())]
    command = ["bash", plan.script, *plan.arguments]
    return shlex.join(["env", *words, *command] if words else command)


class Follower:
    """Reads the lines that are added to a file; progress bars write lines that end in a carriage return."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._rest = b""

    def lines(self, *, is_last: bool = False) -> Iterator[str]:
        """Yield the new lines; the last time also one without an end."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                added = file.read()
        except FileNotFoundError:
            return
        self._position += len(added)
        *whole, self._rest = _END.split(self._rest + added)
        if is_last and self._rest:
            whole.append(self._rest)
            self._rest = b""
        yield from (line.decode("utf-8", "replace") for line in whole)
