"""The last lines of a log that tell what a run was doing: what libraries warn about in every run does not."""

from __future__ import annotations

import msgspec

from example_sanity.core.regex import regex

_KEPT = 5
_WIDEST = 2000
_WARNING = regex(r"\b\w*Warning: |\bWARN(?:ING)?\b|\bwarnings\.warn\(|\bdeprecat")
# What Ray counts instead of printing, native frames, and pieces of lists and configurations that are printed whole.
_FILLER = regex(
    r"\[repeated \d+x across cluster\]|\*\*\* SIG|^(?:\[[^\]]*\] \S+: +)?\s*(?:PC: )?@ +0x"
    r"|^\s*[{[(]*['\"][\w./-]+['\"]: |^\s*[{[(]*(['\"]).*\1[\]}),]*$|^\W*$"
)
# A warning that somebody waits is what a run that hangs has to say.
_TELLS = regex(r"(?i)\b(?:wait|retr(?:y|ies)|timed? ?out|stuck)")
_CHANGING = regex(r"[\d.,:%?/|#<>=\u2580-\u259f\s-]+")


class LogLine(msgspec.Struct, frozen=True):
    """A line of a log, without terminal codes, and its number (from 1)."""

    number: int
    text: str


class Tail:
    """Keeps the last telling lines; of lines that differ in numbers alone (progress bars) only the newest."""

    def __init__(self) -> None:
        self._lines: dict[str, LogLine] = {}
        self._warns = False

    def feed(self, text: str, number: int) -> None:
        """Take in a clean line."""
        text = text[:_WIDEST]
        # A warning shows the source below itself, indented.
        warns = _WARNING.search(text) is not None and _TELLS.search(text) is None
        self._warns = warns or (self._warns and text.startswith(" "))
        if self._warns or _FILLER.search(text) is not None:
            return
        key = _CHANGING.sub("", text)
        self._lines.pop(key, None)
        self._lines[key] = LogLine(number, text.strip())
        if len(self._lines) > _KEPT:
            del self._lines[next(iter(self._lines))]

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """The lines that are kept, in the order of the log."""
        return tuple(self._lines.values())
