"""Comment lines that open and close regions: ``# ---- user-adjustable ----`` … ``# ---- end user-adjustable ----``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch.syntax import Marker, Region

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.finding import Span

_RULE = r"[-=*~_+\u2500-\u257f\u2014\u2013]"
# A heading has a rule on both sides: three hashes or more, or one hash and two other rule characters.
_HEADING = regex(
    rf"(?:\#{{3,}}|\#+[ \t]*{_RULE}{{2,}})[ \t]*(?P<title>[^\s#](?:.*?\S)??)[ \t]*(?:\#{{2,}}|{_RULE}{{2,}}[ \t]*\#*)\s*"
)
_END = regex(r"end(?:\s+of)?[\s:]+(?!to\s+end\b)(.+)")
_REMARK = regex(r"\s*\([^()]*\)$")


def marker(comment: str, span: Span) -> Marker | None:
    """Read a whole-line comment as a marker; rulers and ordinary comments give None."""
    found = _HEADING.fullmatch(comment)
    if found is None or not re.search(r"\w", found["title"]):
        return None
    title = " ".join(found["title"].casefold().split())
    end = _END.fullmatch(title)
    title = _REMARK.sub("", end[1] if end else title) or title
    return Marker(title, end is not None, span)


def regions(markers: Sequence[Marker]) -> tuple[Region, ...]:
    """Pair each end with the nearest open beginning of the same title, in order of the beginnings."""
    opened: dict[str, list[Marker]] = {}
    found: list[Region] = []
    for item in markers:
        if not item.end:
            opened.setdefault(item.title, []).append(item)
        elif opened.get(item.title):
            begin = opened[item.title].pop()
            found.append(Region(item.title, begin.span.line + 1, item.span.line - 1, begin.span))
    return tuple(sorted(found, key=_first_line))


def _first_line(region: Region) -> tuple[int, int]:
    return region.first_line, -region.last_line


def markers(comments: Iterable[tuple[str, Span]]) -> tuple[Marker, ...]:
    """Return the markers among whole-line comments, in order."""
    found = (marker(text, span) for text, span in comments)
    return tuple(item for item in found if item is not None)
