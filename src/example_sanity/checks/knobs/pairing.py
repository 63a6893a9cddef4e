"""ENV004: markers of regions that do not pair."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.checks.knobs.base import KnobRule
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Edit, Finding, Fix, Related, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.knobs.layout import Layout
    from example_sanity.launch.syntax import Marker

_BEGIN_WORDS = regex(r"^(?:begin|beginning|start)(?: of)?[ :]+")


class Pairs(msgspec.Struct):
    """The markers of a script, paired. ``lonely`` are beginnings, ``orphans`` ends, ``pairs`` in order of their ends."""

    pairs: list[tuple[Marker, Marker]] = field(default_factory=list)
    lonely: list[Marker] = field(default_factory=list)
    orphans: list[Marker] = field(default_factory=list)
    headings: list[Marker] = field(default_factory=list)

    @property
    def is_balanced(self) -> bool:
        """Whether every beginning has its end and every end its beginning."""
        return not self.lonely and not self.orphans


class UnbalancedRegion(KnobRule):
    """A region has no end, an end has no beginning, or two regions overlap.

    Without both markers there is no region, so nothing in it is found by a reader or by the other rules. A heading
    counts as a beginning when its title is one that holds knobs by convention (``region-titles``), when the script
    closes a region of that title, or when it ends in "knobs" in a script that closes any region; every other heading
    without an end just begins a section.
    """

    code = "ENV004"
    name = "unbalanced-region"
    summary = "the markers of a region do not pair"
    bad = (
        Example(
            "# ---- user-adjustable ----\nTP=${TP:-2}\n\n# ---- launch ----\ntorchrun train.py --tp $TP\n"
        ),
        Example("TP=${TP:-2}\n# ---- end user-adjustable ----\ntorchrun train.py --tp $TP\n"),
    )
    good = (
        Example(
            "##### user-adjustable #####\nTP=${TP:-2}\n##### end user-adjustable #####\n\n"
            "##### launch #####\ntorchrun train.py --tp $TP\n"
        ),
    )

    def _judge(self, layout: Layout, context: Context) -> Iterator[Finding]:
        found = pair(layout)
        for end in list(found.orphans):
            yield self._orphan(end, found, layout)
        for begin in found.lonely:
            yield self.finding(
                layout.script.path,
                begin.span,
                f"the region '{begin.title}' has no end; write '{_marker_like(begin, layout, 'end ' + begin.title)}' below "
                "its last knob",
            )
        for begin, end in found.pairs:
            for outer, last in found.pairs:
                if outer.span < begin.span and end.span < last.span:
                    yield self.finding(
                        layout.script.path,
                        begin.span,
                        f"the region '{begin.title}' lies inside '{outer.title}' (lines {outer.span.line}-{last.span.line}); "
                        f"end '{outer.title}' before it begins",
                        related=(Related(layout.script.path, outer.span, "the outer region begins here"),),
                    )

    def _orphan(self, end: Marker, found: Pairs, layout: Layout) -> Finding:
        """Judge an end without a beginning; a beginning that it was meant for is taken off the list."""
        path = layout.script.path
        begun = next((b for b in found.lonely if _same(b, end) and b.span < end.span), None)
        if begun:
            found.lonely.remove(begun)
            return self.finding(
                path,
                end.span,
                f"the region '{end.title}' (from line {begun.span.line}) overlaps another that ends before it; "
                "end the regions in turn",
                related=(Related(path, begun.span, "it begins here"),),
            )
        candidates = {m.title: m for m in (*found.headings, *found.lonely) if m.span < end.span}
        title = nearest(end.title, candidates, 80)
        if title is None:
            return self.finding(
                path,
                end.span,
                f"'end {end.title}' ends no region; write '{_marker_like(end, layout, end.title)}' above its first knob",
            )
        meant = candidates[title]
        if meant in found.lonely:
            found.lonely.remove(meant)
        return self.finding(
            path,
            end.span,
            f"'end {end.title}' ends no region: the one that begins at line {meant.span.line} is called '{title}'; "
            f"write 'end {title}'",
            related=(Related(path, meant.span, "the region begins here"),),
            fix=_retitle(end, title, layout),
        )


def _same(one: Marker, other: Marker) -> bool:
    return _bare(one) == _bare(other)


def _bare(marker: Marker) -> str:
    return marker.title if marker.end else _BEGIN_WORDS.sub("", marker.title)


def pair(layout: Layout) -> Pairs:
    """Pair the beginnings and ends of a script's regions."""
    closed = {marker.title for marker in layout.script.markers if marker.end}
    found = Pairs()
    opened: list[Marker] = []
    for marker in layout.script.markers:
        if not marker.end:
            title = _bare(marker)
            known = layout.options.is_region_title(title) or (bool(closed) and title.endswith("knobs"))
            begins = title in closed or known
            (opened if begins else found.headings).append(marker)
            continue
        at = next((i for i in reversed(range(len(opened))) if _same(opened[i], marker)), None)
        # What was opened later and is still open has no end, or one that comes too late.
        if at is None:
            found.orphans.append(marker)
        else:
            found.pairs.append((opened[at], marker))
            found.lonely += opened[at + 1 :]
            del opened[at:]
    found.lonely = sorted([*found.lonely, *opened], key=lambda marker: marker.span)
    return found


def _line(marker: Marker, layout: Layout) -> str:
    return layout.script.lines[marker.span.line - 1].strip()


def _marker_like(marker: Marker, layout: Layout, title: str) -> str:
    """The comment line of a marker with another title, in the same style."""
    old = re.escape(marker.title).replace(r"\ ", r"\s+")
    ending = r"end\s+(?:of\s+)?" if marker.end else ""
    line = re.sub(rf"{ending}{old}", lambda _: title, _line(marker, layout), count=1, flags=re.IGNORECASE)
    return re.sub(r"[-=#*]{9,}", lambda rule: rule[0][:4], line)


def _retitle(end: Marker, title: str, layout: Layout) -> Fix | None:
    """Replace the title of an end marker."""
    line = layout.script.lines[end.span.line - 1]
    found = re.search(re.escape(end.title).replace(r"\ ", r"\s+"), line, re.IGNORECASE)
    if found is None:
        return None
    span = Span(end.span.line, found.start() + 1, end.span.line, found.end() + 1)
    return Fix(f"write 'end {title}'", (Edit(layout.script.path, span, title),))
