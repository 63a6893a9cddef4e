"""Errors that reach the user, and the exit codes of the program."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from example_sanity.core.finding import Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(enum.IntEnum):
    """What the exit status says, everywhere."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    NOTHING_INSPECTED = 3
    INTERNAL = 4


class UsageError(Exception):
    """The call or the configuration is wrong; the text says what, and the nearest right thing where there is one."""


Said = tuple[str, str, Span, Severity | None]  # code, message, place, severity


class Uninspectable(Exception):
    """A file could not be inspected. It becomes a SYS finding, never a silent pass; of the rule's severity unless it says one."""

    def __init__(
        self, code: str, message: str, span: Span | None = None, severity: Severity | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span or Span()
        self.severity = severity

    @property
    def said(self) -> Said:
        """All of it, for ``Uninspectable(*said)`` in another process or run."""
        return self.code, self.message, self.span, self.severity


def nearest(word: str, candidates: Iterable[str], cutoff: float = 60) -> str | None:
    """Return the candidate that looks most like ``word``, or None when none does."""
    from rapidfuzz import fuzz, process, utils

    choices = sorted(set(candidates))
    found = process.extractOne(
        word, choices, scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=cutoff
    )
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the nearest candidate, or an empty string."""
    best = nearest(word, candidates)
    return f" (did you mean {best!r}?)" if best else ""
