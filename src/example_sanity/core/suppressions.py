"""Inline suppressions: ``sanity: ignore[MSH003] reason`` in a comment, and what becomes of each of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Finding, Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.comments import Comment, CommentReader
    from example_sanity.core.registry import Registry

WORD = "sanity"
_MAYBE = regex(rb"sanity[\s:-]*(?:ignore|disable|suppress|noqa|no-check)", re.IGNORECASE)
_SUPPRESSION = regex(r"sanity: (ignore|ignore-file)\[([^\[\]]*)\](?:\s+(\S.*))?")
# What somebody wrote who meant a suppression; "sanity check: ..." is English.
_LOOKALIKE = regex(
    r"(?:example[- ])?sanity(?:\s*:\s*(?:ignore|disable|suppress|noqa|no-check)\b|[\s:-]*(?:ignore|disable|suppress)(?:-\w+)?\s*[\[(])",
    re.IGNORECASE,
)
_WHOLE_FILE = Span()


class Suppression(msgspec.Struct, frozen=True):
    """One inline suppression.

    ``span`` is the comment with its markers. ``words`` are the codes, names or families as they are written, ``codes``
    what each known one stands for, ``unknown`` the message on each other. ``covers`` are the first and the last line,
    both inclusive, on which findings are suppressed; None means the whole file. ``malformed`` says that the comment only
    looks like a suppression; it suppresses nothing.

    After a run, ``used`` holds the codes of the findings that it suppressed, and ``judged`` those of the rules that
    ran over the file, so that a code in ``judged`` but not in ``used`` suppressed nothing.
    """

    path: str
    span: Span
    text: str
    words: tuple[str, ...] = ()
    codes: dict[str, frozenset[str]] = {}
    unknown: dict[str, str] = {}
    reason: str = ""
    covers: tuple[int, int] | None = None
    own_line: bool = True
    malformed: bool = False
    used: frozenset[str] = frozenset()
    judged: frozenset[str] = frozenset()

    @property
    def all_codes(self) -> frozenset[str]:
        """All codes that it names."""
        return frozenset().union(*self.codes.values())

    @property
    def unused(self) -> tuple[str, ...]:
        """The words of which every rule ran, and none had anything to suppress."""
        return tuple(
            word
            for word in self.words
            if (codes := self.codes.get(word)) and codes <= self.judged - self.used
        )

    @property
    def label(self) -> str:
        """What a finding that it suppresses says of it."""
        reason = f": {self.reason}" if self.reason else ""
        return f"inline {self.path}:{self.span.line}{reason}"

    @property
    def width(self) -> float:
        """How many lines it covers."""
        return float("inf") if self.covers is None else self.covers[1] - self.covers[0] + 1

    def covers_finding(self, finding: Finding) -> bool:
        """Return whether it suppresses the finding. One on the file as a whole needs ``ignore-file``."""
        if self.malformed or finding.path != self.path or finding.code not in self.all_codes:
            return False
        if self.covers is None:
            return True
        return finding.span != _WHOLE_FILE and self.covers[0] <= finding.span.line <= self.covers[1]


def may_hold(data: bytes) -> bool:
    """Return whether a file may hold a suppression or what looks like one; a fast answer for most that do not."""
    return b"anity" in data and _MAYBE.search(data) is not None


def read(path: str, text: str, reader: CommentReader, registry: Registry) -> tuple[Suppression, ...]:
    """Return the suppressions of a file and what looks like one, in order."""
    found = (_suppression(path, comment, registry) for comment in reader.comments(text, WORD))
    return tuple(item for item in found if item is not None)


def _suppression(path: str, comment: Comment, registry: Registry) -> Suppression | None:
    span = Span(comment.line, comment.column, comment.line, comment.end_column)
    found = _SUPPRESSION.fullmatch(comment.text)
    words = tuple(word.strip() for word in found[2].split(",")) if found else ()
    if not found or not all(words):
        malformed = _LOOKALIKE.match(comment.text)
        return Suppression(path, span, comment.text, malformed=True) if malformed else None
    resolved = {word: _resolve(word, registry) for word in words}
    return Suppression(
        path=path,
        span=span,
        text=comment.text,
        words=words,
        codes={word: codes for word, codes in resolved.items() if not isinstance(codes, str)},
        unknown={word: problem for word, problem in resolved.items() if isinstance(problem, str)},
        reason=(found[3] or "").strip(),
        covers=None if found[1] == "ignore-file" else comment.covers,
        own_line=comment.own_line,
    )


def _resolve(word: str, registry: Registry) -> frozenset[str] | str:
    """The codes that a word stands for, or the message that there is none."""
    try:
        return registry.resolve(word, "suppression")
    except UsageError as error:
        return str(error).partition(": ")[2]


def suppress(
    findings: Iterable[Finding], suppressions: Sequence[Suppression]
) -> tuple[list[Finding], list[Suppression]]:
    """Label the findings that are suppressed, and fill in ``used``.

    Where several suppressions cover a finding, the one with the fewest lines counts.
    """
    by_path: dict[str, list[int]] = {}
    for number, item in enumerate(suppressions):
        by_path.setdefault(item.path, []).append(number)
    used: dict[int, set[str]] = {}
    result = []
    for finding in findings:
        fitting = [n for n in by_path.get(finding.path, ()) if suppressions[n].covers_finding(finding)]
        if fitting:
            best = min(fitting, key=lambda number: suppressions[number].width)
            used.setdefault(best, set()).add(finding.code)
            result.append(msgspec.structs.replace(finding, suppressed_by=suppressions[best].label))
        else:
            result.append(finding)
    filled = [
        msgspec.structs.replace(item, used=frozenset(used.get(number, ())))
        for number, item in enumerate(suppressions)
    ]
    return result, filled
