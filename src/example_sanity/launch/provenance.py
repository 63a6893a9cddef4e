"""Where a recorded command and each of its words came from.

The call site is exact: its offset travelled with the command. The source word is found by comparing: the words that
can reach the site (its own, those of the arrays and variables that it expands, those of a function's callers) are laid
out in the order in which they expand, and each recorded word is matched to the one whose literal text it carries.
Where that leaves a choice, the call site stands for the word.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from example_sanity.core.finding import Span
from example_sanity.launch import world
from example_sanity.launch.command import Command, Origin
from example_sanity.launch.sourcewords import Candidate, Layout, Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.launch.sandbox import Recorded
    from example_sanity.launch.syntax import Script

_BOOKKEEPING = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
_GIVEN = {"PATH": world.PATH, "HOME": world.HOME, "USER": "user", **world.LOCALE}


def locate(script: Script, files: Mapping[str, str], records: Sequence[Recorded]) -> tuple[Command, ...]:
    """Turn what an engine recorded into commands with origins.

    ``files`` are the script files that were read, in the order of the indexes in the records' sites, with their text;
    the first is ``script`` itself. A record without a site gets the script's first line.
    """
    layouts = _Layouts(script, files)
    return tuple(_command(record, layouts) for record in records)


def environment(seen: Mapping[str, str]) -> dict[str, str]:
    """Return what a command gets on top of an empty environment: without what every shell sets for itself."""
    return {
        name: value
        for name, value in sorted(seen.items())
        if name not in _BOOKKEEPING and _GIVEN.get(name) != value
    }


class _Layouts:
    """The scripts of one evaluation, parsed when a command first comes from one, with what was laid out before."""

    def __init__(self, script: Script, files: Mapping[str, str]) -> None:
        self.script = script
        self._paths = list(files)
        self._texts = files
        self._made: dict[int, Layout] = {}

    def of(self, index: int) -> Layout:
        """Return the layout of a file; that of a script alone serves all of its scenarios."""
        if index == 0 and len(self._paths) < 2:
            return _layout(self.script)
        if index not in self._made:
            self._made[index] = Layout(self._parsed(index), lambda: self._others(index))
        return self._made[index]

    def _others(self, index: int) -> list[Layout]:
        return [self.of(other) for other in range(len(self._paths)) if other != index]

    def _parsed(self, index: int) -> Script:
        from example_sanity.launch.syntax import parse

        if index == 0:
            return self.script
        path = self._paths[index]
        return parse(
            posixpath.normpath(path.lstrip("/")), self._texts[path].encode("utf-8", "surrogateescape")
        )


_recent: list[Layout] = []  # the scenarios of a script come one after the other


def _layout(script: Script) -> Layout:
    found = next((layout for layout in _recent if layout.script is script), None)
    if found is None:
        found = Layout(script)
        _recent[:] = [found, *_recent[:3]]
    return found


def _command(record: Recorded, layouts: _Layouts) -> Command:
    argv, seen = record.argv, environment(record.environment)
    if record.site is None:
        site = Origin(layouts.script.path, Span())
        return Command(argv, seen, record.status, site, (site,) * len(argv), folder=record.folder)
    layout = layouts.of(record.site[0])
    found = layout.site_at(record.site[1])
    site = Origin(layout.script.path, layout.span_of(found, record.site[1]))
    matched = match(argv, layout.words_of(found)) if found else [None] * len(argv)
    origins = tuple(site if candidate is None else candidate.origin for candidate in matched)
    return Command(argv, seen, record.status, site, origins, folder=record.folder)


def match(argv: Sequence[str], words: Words) -> list[Candidate | None]:
    """Return the source word of each word of ``argv``, or None where several would do.

    Words with literal text come first; those that are nothing but an expansion follow from their neighbours.
    """
    candidates = words.candidates
    options = [words.options(word) for word in argv]
    places: list[int | None] = [found[0] if len(found) == 1 else None for found in options]
    _settle_repeats(places, options)
    _settle_by_order(places, options)
    _settle_neighbours(places, argv, candidates)
    _settle_between(places, candidates)
    return [None if place is None else candidates[place] for place in places]


def _settle_repeats(places: list[int | None], options: Sequence[list[int]]) -> None:
    """The same choice as often as there are words to choose from: they stand in order."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, found in enumerate(options):
        if len(found) > 1:
            groups.setdefault(tuple(found), []).append(at)
    for choice, positions in groups.items():
        if len(choice) == len(positions):
            for at, place in zip(positions, choice, strict=True):
                places[at] = place


def _settle_by_order(places: list[int | None], options: Sequence[list[int]]) -> None:
    """Take the one option that lies between the words settled before and after."""
    for at, found in enumerate(options):
        if places[at] is None and found:
            before = next((p for p in reversed(places[:at]) if p is not None), -1)
            after = next((p for p in places[at + 1 :] if p is not None), 1 << 30)
            between = [place for place in found if before < place < after]
            if len(between) == 1:
                places[at] = between[0]


def _settle_between(places: list[int | None], candidates: Sequence[Candidate]) -> None:
    """An expansion is the source of the one word between its neighbours, even if the text stands elsewhere, too."""
    for at in range(1, len(places) - 1):
        before, after = places[at - 1], places[at + 1]
        if before is not None and after == before + 2 and not candidates[before + 1].literal:
            places[at] = before + 1


def _settle_neighbours(
    places: list[int | None], argv: Sequence[str], candidates: Sequence[Candidate]
) -> None:
    """A word that is one expansion and nothing else follows the word before it, if that is settled.

    An unquoted one may have become several words: it counts where the word after it is settled, too.
    """
    used = {place for place in places if place is not None}
    for at in range(1, len(argv)):
        previous = places[at - 1]
        if places[at] is not None or previous is None or previous + 1 in used:
            continue
        following = previous + 1
        if following >= len(candidates) or candidates[following].literal:
            continue
        next_place = places[at + 1] if at + 1 < len(argv) else len(candidates)
        if candidates[following].single or next_place == following + 1:
            places[at] = following
            used.add(following)
