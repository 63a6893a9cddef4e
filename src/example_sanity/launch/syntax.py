"""The structure of a shell script: what is assigned, read, guarded, grouped and launched, and where."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from example_sanity.core.finding import Span

__all__ = [
    "Alternative",
    "Array",
    "ArrayWord",
    "Assignment",
    "CommandSite",
    "DefaultKind",
    "Guard",
    "Marker",
    "Read",
    "Region",
    "Script",
    "parse",
]


class DefaultKind(str, enum.Enum):
    """How the value of an assignment relates to the environment."""

    FIXED = "fixed"  # NAME=word: the environment cannot change it
    OVERRIDABLE = (
        "overridable"  # NAME=${NAME:-word}, ${NAME-word}, : "${NAME:=word}", [ -z "$NAME" ] && NAME=word
    )
    REQUIRED = "required"  # ${NAME:?text}, ${NAME?text}


class Assignment(msgspec.Struct, frozen=True):
    """``NAME=value``, in any of its shapes (plain, ``export``, ``declare``, ``readonly``, ``: ${NAME:=value}``).

    ``default`` is the source text of the default word for an overridable assignment, without its outer quotes.
    ``via`` is the name whose value in the environment replaces that default: ``NAME`` itself, another variable for
    ``NAME=${OTHER:-word}``, a digit for a positional parameter; None for a fixed assignment. An assignment is fixed, too,
    when an earlier one has cut the environment off (``NAME=`` followed by ``NAME=${NAME:-word}``).
    ``: "${NAME:?text}"`` counts as a required assignment unless the script assigned ``NAME`` before.
    ``reads`` are the names that the value expands. ``conditional`` means that the statement may not run, or runs in a
    shell of its own: inside if, case, loop, function, after ``&&`` or ``||``, in a subshell or pipeline.
    ``exported`` also holds when another statement exports the name. Assignments in front of a command
    (``A=1 cmd``) are that command's environment and stand in no list.
    """

    name: str
    value: str
    kind: DefaultKind
    default: str | None
    reads: tuple[str, ...]
    span: Span
    exported: bool = False
    array: bool = False
    append: bool = False
    conditional: bool = False
    function: str | None = None
    start: int = 0
    end: int = 0
    via: str | None = None


class Read(msgspec.Struct, frozen=True):
    """An expansion of a variable. ``defaulted``: ``${X:-w}``, ``${X-w}``, ``${X:=w}``, ``${X:+w}``, ``[[ -v X ]]``.

    ``name`` is an identifier, a positional parameter (``1``), or one of ``@``, ``*`` and ``#``. ``span`` and ``start``
    are those of the name, without ``${``. A read of an assignment's own name in its value lies between the
    assignment's ``start`` and ``end``.
    """

    name: str
    span: Span
    defaulted: bool = False
    required: bool = False
    arithmetic: bool = False
    start: int = 0
    function: str | None = None


class Marker(msgspec.Struct, frozen=True):
    """A comment line that begins or ends a region, or a section heading that has no end.

    ``title`` is written in small letters with single spaces, without ``end`` and without a trailing ``(remark)``.
    """

    title: str
    end: bool
    span: Span


class Region(msgspec.Struct, frozen=True):
    """The lines between ``---- title ----`` and ``---- end title ----``; ``last_line`` is inclusive.

    Neither of the two comment lines belongs to it. ``span`` is the beginning comment.
    """

    title: str
    first_line: int
    last_line: int
    span: Span


class Guard(msgspec.Struct, frozen=True):
    """A conditional that stops the script (``exit`` or ``return`` non-zero), and the variables that it looks at.

    A function that always ends in a non-zero ``exit`` stops it as well. ``span``, ``start`` and ``end`` are those of
    the if, case or list. ``statement_end`` is where the top-level statement around it ends: the script may be cut there.
    """

    reads: tuple[str, ...]
    condition: str
    span: Span
    start: int = 0
    end: int = 0
    statement_end: int = 0
    function: str | None = None


class ArrayWord(msgspec.Struct, frozen=True):
    """One element of an array literal or one word of a command, as it is written."""

    text: str
    reads: tuple[str, ...]
    span: Span
    start: int = 0
    end: int = 0


class Array(msgspec.Struct, frozen=True):
    """``NAME=( … )`` or ``NAME+=( … )``."""

    name: str
    words: tuple[ArrayWord, ...]
    append: bool
    span: Span
    start: int = 0
    end: int = 0


class CommandSite(msgspec.Struct, frozen=True):
    """A simple command in the source. ``name`` is its literal first word, or None where that is an expansion."""

    name: str | None
    words: tuple[ArrayWord, ...]
    span: Span
    function: str | None = None
    start: int = 0
    end: int = 0


class Alternative(msgspec.Struct, frozen=True):
    """A named choice of a variable: a ``case`` label or the right-hand side of a test (``$DEVICE == npu``).

    ``default`` is the default that stands in the expansion itself (``${DEVICE:-gpu}``), if any.
    """

    name: str
    values: tuple[str, ...]
    span: Span
    default: str | None = None
    start: int = 0


@dataclass
class Script:
    """A shell script: its bytes and what tree-sitter-bash says of them. Broken scripts have a structure too.

    ``path`` is relative to the project root with forward slashes. ``errors`` are the spans that did not parse; they
    prove nothing, as one valid script in fifty has some. ``assigned`` holds every name that some statement sets: assignments,
    loops, ``read``, ``mapfile``, ``getopts``, ``printf -v``, arithmetic. ``exported`` holds the names that
    ``export`` or ``declare -x`` mentions. All tuples are in source order.
    """

    path: str
    data: bytes
    assignments: tuple[Assignment, ...] = ()
    reads: tuple[Read, ...] = ()
    markers: tuple[Marker, ...] = ()
    regions: tuple[Region, ...] = ()
    guards: tuple[Guard, ...] = ()
    arrays: tuple[Array, ...] = ()
    commands: tuple[CommandSite, ...] = ()
    functions: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    errors: tuple[Span, ...] = ()
    assigned: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()
    tree: object = field(default=None, repr=False, compare=False)

    @cached_property
    def text(self) -> str:
        """The source, with undecodable bytes kept as surrogates."""
        return self.data.decode("utf-8", "surrogateescape")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the source without their ends."""
        return tuple(self.text.split("\n"))


def parse(path: str, data: bytes) -> Script:
    """Read the structure of a script. Any bytes are accepted; what does not parse is in ``Script.errors``."""
    from example_sanity.launch.regions import markers, regions
    from example_sanity.launch.source import Source
    from example_sanity.launch.walk import Walk

    source = Source(data)
    facts = Walk(source).run()
    headings = markers(facts.whole_line_comments())
    return Script(
        path=path,
        data=data,
        assignments=facts.assignments(),
        reads=facts.reads(),
        markers=headings,
        regions=regions(headings),
        guards=facts.guards(),
        arrays=facts.arrays(),
        commands=facts.commands(),
        functions=tuple(facts.functions),
        alternatives=facts.alternatives(),
        errors=facts.errors(),
        assigned=frozenset(facts.assigned),
        exported=frozenset(facts.exported),
        tree=source.tree,
    )
