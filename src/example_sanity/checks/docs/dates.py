"""DOC011, DOC012: the line that says when a document was last updated."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

from example_sanity.checks.docs.base import DocumentRule, matches, options
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.core.trace import TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding

_MARKER = regex(r"\blast[ -](?:updated|modified)(?:\s+on)?\b[\s:*_`]*([^\n]*)", re.IGNORECASE)
_NUMBERS = regex(r"(\d{1,4})[/.-](\d{1,2})[/.-](\d{1,4})\b")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WORDS = regex(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([A-Za-z]{3,9})\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\b"
)


class BadDate(DocumentRule):
    """The date behind "Last updated" is none, or lies in the future.

    Read are ``MM/DD/YYYY``, ``DD/MM/YYYY``, ``YYYY-MM-DD`` with any of ``/``, ``-`` and ``.``, and months in words. A day of
    grace is given to those who live further east.
    """

    code = "DOC011"
    name = "bad-date"
    summary = 'the date behind "Last updated" is impossible or in the future'
    bad = (
        Example("Last updated: 13/32/2025.\n", "docs/a.md"),
        Example("Last updated: 2999-01-01\n", "docs/a.md"),
    )
    good = (
        Example("Last updated: 07/29/2024.\n", "docs/a.md"),
        Example("Last updated: May 3, 2024\n", "docs/a.md"),
    )

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for number, column, text in _markers(document):
            problem = _problem(text, datetime.date.today())
            if problem:
                if problem.endswith("future"):
                    context.project.watch(TODAY)  # tomorrow it may be right
                shown = text.strip(" .*_")
                yield self.finding(document.path, Span(number, column, number, column + len(shown)), problem)


def _markers(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and text of what follows each marker, code left out."""
    code = {line.line for block in document.blocks for line in block.lines}
    for number, line in enumerate(document.lines, 1):
        found = _MARKER.search(line) if number not in code and "last" in line.lower() else None
        if found and not line[: found.start()].rstrip().endswith(("`", '"', "'", "“")):
            yield number, found.start(1) + 1, found[1]


def _problem(text: str, today: datetime.date) -> str | None:
    dates = _dates(text)
    if dates is None:
        return None
    shown = text.strip(" .*_")
    if not dates:
        return f"{shown} is no date"
    if min(dates) > today + datetime.timedelta(days=1):
        return f"{shown} lies in the future"
    return None


def _dates(text: str) -> list[datetime.date] | None:
    """Return the dates that a text may mean; None where it does not look like one."""
    if found := _NUMBERS.match(text):
        first, middle, last = (int(number) for number in found.groups())
        orders = [(first, middle, last)] if first > 99 else [(last, first, middle), (last, middle, first)]
    elif found := _WORDS.match(text):
        month = found[2][:3].lower()
        if month not in _MONTHS:
            return None
        orders = [(int(found[4]), _MONTHS.index(month) + 1, int(found[1] or found[3] or 1))]
    else:
        return None
    return [date for order in orders if (date := _date(*order))]


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day) if year >= 1970 else None
    except ValueError:
        return None


class MissingDate(DocumentRule):
    """A document does not say when it was last updated, where the project wants that.

    Off until ``dated`` of ``[tool.example-sanity.docs]`` names documents; the preset ``verl`` names those under ``docs/``.
    """

    code = "DOC012"
    name = "missing-date"
    summary = 'a document has no "Last updated" line'
    bad = (Example("# A\n", "docs/a.md", {"example-sanity.toml": '[docs]\ndated = ["docs/**"]\n'}),)
    good = (
        Example(
            "# A\n\nLast updated: 07/29/2024.\n",
            "docs/a.md",
            {"example-sanity.toml": '[docs]\ndated = ["docs/**"]\n'},
        ),
        Example("# A\n", "docs/a.md"),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge the documents that are to be dated."""
        given = options(context)
        return matches(path, given.dated) and not matches(path, given.undated)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        del context
        if not any(_dates(text) is not None for _, _, text in _markers(document)):
            yield self.finding(document.path, Span(), 'there is no line "Last updated: MM/DD/YYYY"')
