"""What the walk collects, and how it becomes the tuples of a Script."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import field

from example_sanity.launch import idioms
from example_sanity.launch.reach import Reach
from example_sanity.launch.syntax import (
    Alternative,
    Array,
    ArrayWord,
    Assignment,
    CommandSite,
    DefaultKind,
    Guard,
    Read,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.finding import Span
    from example_sanity.launch.source import Source

Range = tuple[int, int]


class RawAssignment(NamedTuple):
    """An assignment before it is known whether the environment reaches it."""

    name: str
    value: str
    default: idioms.Default | None
    empty_before: bool
    start: int
    end: int
    array: bool
    append: bool
    conditional: bool
    function: str | None


class RawRead(NamedTuple):
    """A read with byte offsets."""

    name: str
    start: int
    end: int
    defaulted: bool
    required: bool
    arithmetic: bool
    function: str | None


class RawCommand(NamedTuple):
    """A simple command: the byte ranges of its words."""

    words: list[Range]
    function: str | None


class RawArray(NamedTuple):
    """An array literal and the byte ranges of its words."""

    name: str
    words: list[Range]
    append: bool
    start: int
    end: int


class RawGuard(NamedTuple):
    """A conditional, the first words of the command that its body ends in, and how its conditions are shown.

    ``where`` is its start, its end, and the end of the top-level statement around it.
    """

    last: tuple[bytes, ...]
    form: str
    conditions: tuple[Range, ...]
    where: tuple[int, int, int]
    function: str | None


class Choice(NamedTuple):
    """A variable and the values that a ``case`` or a test names for it."""

    subject: idioms.Subject
    values: tuple[str, ...]
    start: int
    end: int


class Facts(msgspec.Struct, dict=True):
    """Raw findings of one walk, in the order of the walk."""

    source: Source
    raw_assignments: list[RawAssignment] = field(default_factory=list)
    raw_reads: list[RawRead] = field(default_factory=list)
    raw_commands: list[RawCommand] = field(default_factory=list)
    raw_guards: list[RawGuard] = field(default_factory=list)
    raw_arrays: list[RawArray] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    required: dict[int, Range] = field(default_factory=dict)  # by the start of the name in ${NAME:?…}
    colons: list[Range] = field(default_factory=list)
    comments: list[Range] = field(default_factory=list)
    raw_errors: list[Range] = field(default_factory=list)
    unset: list[tuple[str, int]] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    last_commands: dict[str, tuple[bytes, ...] | None] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    exported: set[str] = field(default_factory=set)
    associative: set[str] = field(default_factory=set)

    @cached_property
    def _reads(self) -> list[RawRead]:
        """Sorted by place; a name that two handlers saw counts once."""
        return list({item.start: item for item in sorted(self.raw_reads, key=_start)}.values())

    @cached_property
    def _read_starts(self) -> list[int]:
        return [item.start for item in self._reads]

    # The words of a command, the value of an assignment: all know their names by place, so one list serves all.
    def _reads_in(self, start: int, end: int) -> list[RawRead]:
        return self._reads[bisect_left(self._read_starts, start) : bisect_left(self._read_starts, end)]

    def _names_in(self, *ranges: Range) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.name for place in ranges for item in self._reads_in(*place)))

    def reads(self) -> tuple[Read, ...]:
        """Return every read in source order."""
        span = self.source.span
        return tuple(
            Read(
                item.name,
                span(item.start, item.end),
                item.defaulted,
                item.required,
                item.arithmetic,
                item.start,
                item.function,
            )
            for item in self._reads
        )

    def assignments(self) -> tuple[Assignment, ...]:
        """Return the assignments; whether the environment reaches one depends on those before it."""
        reach = Reach()
        found: list[Assignment] = []
        unset = sorted(self.unset, key=_second)
        for raw in sorted([*self.raw_assignments, *self._requirements()], key=_start):
            while unset and unset[0][1] < raw.start:
                reach.cut(unset.pop(0)[0])
            found.append(self._assignment(raw, reach))
            reach.note(found[-1])
        return tuple(found)

    def _assignment(self, raw: RawAssignment, reach: Reach) -> Assignment:
        kind, default, via = _kind(raw, reach)
        return Assignment(
            name=raw.name,
            value=raw.value,
            kind=kind,
            default=default,
            reads=self._names_in((raw.start, raw.end)),
            span=self.source.span(raw.start, raw.end),
            exported=raw.name in self.exported,
            array=raw.array,
            append=raw.append,
            conditional=raw.conditional,
            function=raw.function,
            start=raw.start,
            end=raw.end,
            via=via,
        )

    def _requirements(self) -> Iterator[RawAssignment]:
        """Yield ``: "${NAME:?text}"`` for names that nothing before assigns."""
        first: dict[str, int] = {}
        for item in self.raw_assignments:
            first[item.name] = min(item.start, first.get(item.name, item.start))
        for colon in self.colons:
            for read in self._reads_in(*colon):
                if read.required and first.get(read.name, read.start) >= read.start:
                    start, end = self.required.get(read.start, (read.start, read.end))
                    text = self.source.data[start:end]
                    yield RawAssignment(
                        read.name,
                        self.source.text(start, end),
                        idioms.default_of(text),
                        empty_before=False,
                        start=start,
                        end=end,
                        array=False,
                        append=False,
                        conditional=False,
                        function=read.function,
                    )

    def arrays(self) -> tuple[Array, ...]:
        """Return the array literals in source order."""
        return tuple(
            Array(name, self._words(words), append, self.source.span(start, end), start, end)
            for name, words, append, start, end in sorted(self.raw_arrays, key=_start)
        )

    def _words(self, words: list[Range]) -> tuple[ArrayWord, ...]:
        return tuple(
            ArrayWord(
                self.source.text(start, end),
                self._names_in((start, end)),
                self.source.span(start, end),
                start,
                end,
            )
            for start, end in words
        )

    def commands(self) -> tuple[CommandSite, ...]:
        """Return the simple commands in source order."""
        found = []
        for raw in sorted(self.raw_commands, key=_first_word):
            words = self._words(raw.words)
            start, end = raw.words[0][0], raw.words[-1][1]
            name = literal(words[0].text)
            found.append(CommandSite(name, words, self.source.span(start, end), raw.function, start, end))
        return tuple(found)

    def guards(self) -> tuple[Guard, ...]:
        """Return the conditionals that stop the script, in source order."""
        stops = self._stopping_functions()
        stopping = (
            raw
            for raw in sorted(self.raw_guards, key=_guard_place)
            if _stops(raw.last, {b"exit", b"return"}) or raw.last[:1] in stops
        )
        return tuple(self._guard(raw) for raw in stopping)

    def _guard(self, raw: RawGuard) -> Guard:
        start, end, statement_end = raw.where
        text = " || ".join(self.source.text(*place) for place in raw.conditions)
        return Guard(
            reads=self._names_in(*raw.conditions),
            condition=raw.form.format(text),
            span=self.source.span(start, end),
            start=start,
            end=end,
            statement_end=statement_end,
            function=raw.function,
        )

    def _stopping_functions(self) -> set[tuple[bytes, ...]]:
        """Return the functions that always leave the script with a failure, as one-word commands."""
        stopping: set[tuple[bytes, ...]] = set()
        # A function may stop because the one it ends in stops; each round finds one more level.
        for _ in self.last_commands:
            more: set[tuple[bytes, ...]] = {
                (name.encode("utf-8", "surrogateescape"),)
                for name, last in self.last_commands.items()
                if last and (_stops(last, {b"exit"}) or last[:1] in stopping)
            }
            if more == stopping:
                break
            stopping = more
        return stopping

    def alternatives(self) -> tuple[Alternative, ...]:
        """Return the named choices in source order."""
        return tuple(
            Alternative(subject.name, values, self.source.span(start, end), subject.default, start)
            for subject, values, start, end in sorted(self.choices, key=_start)
        )

    def errors(self) -> tuple[Span, ...]:
        """Return what did not parse, outermost stretches only."""
        spans: list[Range] = []
        for start, end in sorted(self.raw_errors, key=_widest_first):
            # An error inside of a larger one says nothing new.
            if not spans or end > spans[-1][1]:
                spans.append((start, end))
        return tuple(self.source.span(start, end) for start, end in spans)

    def whole_line_comments(self) -> Iterator[tuple[str, Span]]:
        """Yield the comments that have their line to themselves."""
        data = self.source.data
        for start, end in sorted(self.comments):
            line_start = data.rfind(b"\n", 0, start) + 1
            if not data[line_start:start].strip():
                yield self.source.text(start, end).rstrip(), self.source.span(start, end)


def literal(word: str) -> str | None:
    """Return what a word without expansions means, quotes and backslashes taken off; None with expansions."""
    if "$" in word or "`" in word:
        return None
    bare = idioms.unquote(word)
    return (
        bare if bare != word else word.replace('"', "").replace("'", "").replace("\\\n", "").replace("\\", "")
    )


def _kind(raw: RawAssignment, reach: Reach) -> tuple[DefaultKind, str | None, str | None]:
    default = raw.default
    # In "[ -z "$A" ] && A=x" the assigned word is the default, not the value.
    if raw.empty_before and reach.of(raw.name):
        word = default.word if default else idioms.unquote(raw.value)
        return DefaultKind.OVERRIDABLE, word, reach.of(raw.name)
    via = reach.of(default.name) if default else None
    if default is None or via is None or default.operator.endswith("+"):
        return DefaultKind.FIXED, None, None
    if default.operator.endswith("?"):
        return DefaultKind.REQUIRED, None, via
    return DefaultKind.OVERRIDABLE, default.word, via


def _stops(last: tuple[bytes, ...], commands: set[bytes]) -> bool:
    return len(last) > 1 and last[0] in commands and last[1] != b"0"


def _start(item: RawRead | RawAssignment | RawArray | Choice) -> int:
    return item.start


def _second(item: tuple[str, int]) -> int:
    return item[1]


def _first_word(item: RawCommand) -> int:
    return item.words[0][0]


def _guard_place(item: RawGuard) -> tuple[int, int, Range]:
    return item.where[0], -item.where[1], item.conditions[0]


def _widest_first(item: Range) -> tuple[int, int]:
    return item[0], -item[1]
