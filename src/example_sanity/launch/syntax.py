"""The structure of a shell script: what is assigned, read, guarded, grouped and launched, and where."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property

from example_sanity.core.finding import Span


class DefaultKind(str, enum.Enum):
    """How the value of an assignment relates to the environment."""

    FIXED = "fixed"  # NAME=word: the environment cannot change it
    OVERRIDABLE = (
        "overridable"  # NAME=${NAME:-word}, ${NAME-word}, : "${NAME:=word}", [ -z "$NAME" ] && NAME=word
    )
    REQUIRED = "required"  # ${NAME:?text}, ${NAME?text}


@dataclass(frozen=True)
class Assignment:
    """``NAME=value``, in any of its shapes (plain, ``export``, ``declare``, ``readonly``, ``: ${NAME:=value}``).

    ``default`` is the source text of the default word for an overridable assignment, without its outer quotes.
    ``reads`` are the names that the value expands. ``conditional`` means inside if, case, loop or function.
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


@dataclass(frozen=True)
class Read:
    """An expansion of a variable. ``defaulted``: ``${X:-w}``, ``${X-w}``, ``${X:=w}``, ``${X:+w}`` and the like."""

    name: str
    span: Span
    defaulted: bool = False
    required: bool = False
    arithmetic: bool = False
    start: int = 0


@dataclass(frozen=True)
class Marker:
    """A comment line that begins or ends a region, or a section heading that has no end."""

    title: str
    end: bool
    span: Span


@dataclass(frozen=True)
class Region:
    """The lines between ``---- title ----`` and ``---- end title ----``; ``last_line`` is inclusive."""

    title: str
    first_line: int
    last_line: int
    span: Span


@dataclass(frozen=True)
class Guard:
    """A conditional that stops the script (``exit`` or ``return`` non-zero), and the variables that it looks at."""

    reads: tuple[str, ...]
    condition: str
    span: Span
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class ArrayWord:
    """One element of an array literal or one word of a command, as it is written."""

    text: str
    reads: tuple[str, ...]
    span: Span
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Array:
    """``NAME=( … )`` or ``NAME+=( … )``."""

    name: str
    words: tuple[ArrayWord, ...]
    append: bool
    span: Span
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class CommandSite:
    """A simple command in the source. ``name`` is its literal first word, or None where that is an expansion."""

    name: str | None
    words: tuple[ArrayWord, ...]
    span: Span
    function: str | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Alternative:
    """A named choice of a variable: a ``case`` label or the right-hand side of a test (``$DEVICE == npu``)."""

    name: str
    values: tuple[str, ...]
    span: Span


@dataclass
class Script:
    """A shell script: its bytes and what tree-sitter-bash says of them. Broken scripts have a structure too.

    ``path`` is relative to the project root with forward slashes. ``errors`` are the spans that did not parse.
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
    tree: object = field(default=None, repr=False, compare=False)

    @cached_property
    def text(self) -> str:
        """The source, with undecodable bytes kept as surrogates."""
        return self.data.decode("utf-8", "surrogateescape")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the source without their ends."""
        return tuple(self.text.split("\n"))
