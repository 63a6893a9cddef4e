"""The source words that can reach a command, in the order in which they expand."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from example_sanity.core.regex import regex
from example_sanity.launch import operand
from example_sanity.launch.command import Origin
from example_sanity.launch.syntax import ArrayWord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from example_sanity.core.finding import Span
    from example_sanity.launch.source import Source
    from example_sanity.launch.syntax import Assignment, CommandSite, Script

_SEVERAL = regex(r"\s|^\"?\$\{?\w+\}?\"?$")
_READ = regex(r"\$\{?([A-Za-z_]\w*)")
_DEPTH = 6
_MOST = 600
_SPREAD = regex(
    r'"?\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:\[[@*]\])?(?::?[-+][^}]*)?\}|([@*1-9])|\{([@*])\})"?'
)
_ASSIGNED = regex(
    rb"""(?:[A-Za-z_]\w*\+?=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^()]*\)|\\.|[^\s"'\\;&|<>()])*(?:[ \t]|\\\n)+)+"""
)
_PLAIN = regex(r"[^\"'\\$`*?\[{]+")
_EXPANSION = regex(r"\$[A-Za-z_]\w*|\$[\d@*#?$!-]")


class Candidate(msgspec.Struct, frozen=True, dict=True):
    """A word as it is written, ready to be compared with a word as it was recorded.

    ``pieces`` are its literal parts, with None for each expansion; ``single`` says that it expands to one word
    whatever the values are; ``group`` is the array that it stands in; ``knobs`` are the variables that feed it.
    """

    path: str
    span: Span
    group: str | None
    knobs: tuple[str, ...]
    pieces: tuple[str | None, ...]
    single: bool

    @cached_property
    def origin(self) -> Origin:
        """Where a recorded word that came from here stands."""
        return Origin(self.path, self.span, exact=True, group=self.group, knobs=self.knobs)

    @cached_property
    def anchor(self) -> str:
        """The literal text before the first expansion."""
        return self.pieces[0] or "" if self.pieces else ""

    @cached_property
    def literal(self) -> int:
        """The length of all literal text."""
        return sum(len(piece) for piece in self.pieces if piece)

    @cached_property
    def whole(self) -> bool:
        """Whether the word has no expansion."""
        return None not in self.pieces

    def fits(self, word: str) -> bool:
        """Whether the word can have come from here: its literal pieces stand in it, in order."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return first is None or word == first
        end = len(word) - len(last or "")
        at = len(first or "")
        if at > end or not word.startswith(first or "") or not word.endswith(last or ""):
            return False
        for piece in self.pieces[1:-1]:
            found = word.find(piece, at, end) if piece else at
            if found < 0:
                return False
            at = found + len(piece or "")
        return True


class Words:
    """The source words that can reach a command, in the order of expansion.

    The scenarios of a script ask for mostly the same recorded words, so what is found for one is remembered.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self._known: dict[str, list[int]] = {}
        self._index: dict[str, list[int]] = {}
        for place, candidate in enumerate(candidates):
            self._index.setdefault(candidate.anchor, []).append(place)

    def options(self, word: str) -> list[int]:
        """Return the places of the candidates that carry the most literal text of a recorded word."""
        if word not in self._known:
            self._known[word] = self._options(word)
        return self._known[word]

    def _options(self, word: str) -> list[int]:
        cuts = sorted({at + 1 for at, character in enumerate(word) if character in "=/:.-_"}, reverse=True)
        for anchor in (word, *(word[:cut] for cut in cuts)):
            found = [place for place in self._index.get(anchor, ()) if self.candidates[place].fits(word)]
            if found:
                return found
        fitting = [p for p, c in enumerate(self.candidates) if c.literal and not c.whole and c.fits(word)]
        longest = max((self.candidates[place].literal for place in fitting), default=0)
        return [place for place in fitting if self.candidates[place].literal == longest]


def pieces_of(text: str) -> tuple[tuple[str | None, ...], bool]:
    """Cut a source word into its literal pieces and None for each expansion; also whether it stays one word."""
    pieces: list[str | None] = []
    literal = ""
    single, quoted, index = True, False, 0
    while index < len(text):
        if text[index] == '"':
            quoted = not quoted
            index += 1
            continue
        plain = _PLAIN.match(text, index)
        if plain:
            literal += plain.group()
            index = plain.end()
            continue
        after = _expansion_end(text, index, quoted)
        if after is None:
            after, character = _literal_unit(text, index, quoted)
            literal += character
        else:
            if literal:
                pieces.append(literal)
                literal = ""
            pieces.append(None)
            single = single and quoted and text[index:after] not in ("$@", "${@}") and "[@]" not in text
        index = after
    if literal or not pieces:
        pieces.append(literal)
    return tuple(pieces), single


def _expansion_end(text: str, index: int, quoted: bool) -> int | None:
    if text[index] == "`" or text[index : index + 2] in ("$(", "${"):
        return operand.skip_unit(text, index, quoted)
    if not quoted and text[index] in "*?[{":
        return index + 1  # may become something else: a file name, several words
    found = _EXPANSION.match(text, index)
    return found.end() if found else None


def _literal_unit(text: str, index: int, quoted: bool) -> tuple[int, str]:
    if text[index] == "\\" and index + 1 < len(text):
        escaped = text[index + 1]
        if escaped == "\n":
            return index + 2, ""
        return index + 2, escaped if not quoted or escaped in '$`"\\' else "\\" + escaped
    if text[index] == "'" and not quoted:
        after = operand.skip_unit(text, index, False)
        return after, text[index + 1 : after - 1]
    return index + 1, text[index]


class _Way(msgspec.Struct, frozen=True):
    """How an expansion was reached: the function whose parameters count, and the names that were gone through."""

    function: str | None
    seen: frozenset[str] = frozenset()

    def may_enter(self, name: str) -> bool:
        return name not in self.seen and len(self.seen) < _DEPTH

    def into(self, name: str) -> _Way:
        return replace(self, seen=self.seen | {name})


class Layout:
    """A script, seen as what its commands can expand to.

    ``siblings`` gives the other script files of the same evaluation: an array may come from one that was sourced.
    """

    def __init__(self, script: Script, siblings: Callable[[], Sequence[Layout]] = tuple) -> None:
        self.script = script
        self._siblings = siblings
        self._words: dict[int, Words] = {}
        self._knobs: dict[tuple[str, ...], tuple[str, ...]] = {}

    @cached_property
    def _assignments(self) -> dict[str, list[Assignment]]:
        found: dict[str, list[Assignment]] = {}
        for item in self.script.assignments:
            found.setdefault(item.name, []).append(item)
        return found

    @cached_property
    def _source(self) -> Source:
        from example_sanity.launch.source import Source

        return Source(self.script.data)

    def _byte(self, offset: int) -> int:
        """The engine's offsets count characters, the script's count bytes."""
        data = self.script.data
        return offset if data.isascii() else len(self.script.text[:offset].encode("utf-8", "surrogateescape"))

    def site_at(self, offset: int) -> CommandSite | None:
        """Return the innermost command around the character at ``offset``, which may be in assignments before it."""
        at = self._byte(offset)
        around = [site for site in self.script.commands if site.start <= at < site.end]
        return min(around, key=lambda site: site.end - site.start, default=None) or self._after_assignments(
            at
        )

    def _after_assignments(self, at: int) -> CommandSite | None:
        """``NAME=value program``: a command begins with its first word, what ran began with the assignment."""
        following = (site for site in self.script.commands if site.start > at)
        data = self.script.data
        return next((site for site in following if _ASSIGNED.fullmatch(data, at, site.start)), None)

    def span_of(self, site: CommandSite | None, offset: int) -> Span:
        """Return the span of a command, or the place of the offset where no command is known."""
        if site is not None:
            return site.span
        at = self._byte(offset)
        return self._source.span(at, at + 1)

    def words_of(self, site: CommandSite) -> Words:
        """Return every source word that can be a word of the command."""
        if site.start not in self._words:
            found = islice(self._expand_site(site, _Way(site.function)), _MOST)
            self._words[site.start] = Words(list(found))
        return self._words[site.start]

    def _expand_site(self, site: CommandSite, way: _Way) -> Iterator[Candidate]:
        for word in site.words:
            yield from self._expand(word, None, way)

    def _expand(self, word: ArrayWord, group: str | None, way: _Way) -> Iterator[Candidate]:
        """The word itself, or the words behind the array, variable or parameters that it is."""
        spread = _SPREAD.fullmatch(word.text)
        name = next(filter(None, spread.groups()), None) if spread else None
        inner = list(self._inside(name, way.into(name))) if name and way.may_enter(name) else []
        yield from inner
        pieces, single = pieces_of(word.text)
        if not inner or single:
            knobs = self.knobs_of(word.reads)
            yield Candidate(self.script.path, word.span, group, knobs, pieces, single)

    def _inside(self, name: str, way: _Way) -> Iterator[Candidate]:
        if name in "@*123456789":
            yield from self._parameters(way)
            return
        found = list(self._own(name, way))
        for sibling in () if found else self._siblings():
            found += sibling._own(name, way)
        yield from found

    def _own(self, name: str, way: _Way) -> Iterator[Candidate]:
        """What this script itself puts into the array or variable."""
        for array in self.script.arrays:
            if array.name == name:
                for word in array.words:
                    yield from self._expand(word, name, way)
        for item in self._assignments.get(name, ()):
            if not item.array and _SEVERAL.search(item.value):
                for word in self._scalar(item):
                    yield from self._expand(word, None, way)

    def _parameters(self, way: _Way) -> Iterator[Candidate]:
        for caller in self.script.commands:
            if way.function is not None and caller.name == way.function:
                yield from list(self._expand_site(caller, replace(way, function=caller.function)))[1:]

    def _scalar(self, item: Assignment) -> Iterator[ArrayWord]:
        """The words of ``ARGS="--a 1 --b $B"``, each where it stands."""
        value = item.value.encode("utf-8", "surrogateescape")
        start = self.script.data.find(value, item.start, item.end + len(value))
        if start < 0:
            return
        body, shift = item.value, 0
        if len(body) > 1 and body[0] == body[-1] and body[0] in "\"'":
            body, shift = body[1:-1], 1
        for begin, end in _split(body):
            text = body[begin:end]
            at = start + shift + len(body[:begin].encode("utf-8", "surrogateescape"))
            span = self._source.span(at, at + len(text.encode("utf-8", "surrogateescape")))
            yield ArrayWord(text, tuple(dict.fromkeys(_READ.findall(text))), span)

    def knobs_of(self, reads: tuple[str, ...]) -> tuple[str, ...]:
        """Return the variables that feed these, nearest first."""
        if reads not in self._knobs:
            order = dict.fromkeys(reads)
            queue = list(order)
            while queue:
                for item in self._assignments.get(queue.pop(0), ()):
                    fresh = [name for name in item.reads if name not in order]
                    order.update(dict.fromkeys(fresh))
                    queue += fresh
            self._knobs[reads] = tuple(order)
        return self._knobs[reads]


def _split(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the words of an unquoted value; blanks inside substitutions and quotes do not split."""
    index, begin = 0, None
    while index < len(text):
        if text[index] in " \t\n" or text[index : index + 2] == "\\\n":
            if begin is not None:
                yield begin, index
            begin = None
            index += 1 if text[index] != "\\" else 2
            continue
        begin = index if begin is None else begin
        index = operand.skip_unit(text, index, False)
    if begin is not None:
        yield begin, min(index, len(text))
