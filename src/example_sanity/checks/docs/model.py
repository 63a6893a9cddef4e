"""What a document consists of, whatever it is written in. Positions are those of the file."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.launch.quoted import Line, Quoted, is_prompted, moved, read

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELL = frozenset({"bash", "sh", "shell", "console", "shell-session", "zsh", "prompt", "terminal"})


class Piece(msgspec.Struct, frozen=True):
    """A piece of inline code or a word of a listing, without its markers; ``line`` is the text around it."""

    text: str
    span: Span
    line: str = ""


class Link(msgspec.Struct, frozen=True):
    """Where a document points. ``kind`` is ``link``, ``image``, ``include``, ``doc`` or ``ref`` (roles of Sphinx)."""

    target: str
    span: Span
    kind: str = "link"
    label: str = ""


class Block(msgspec.Struct, frozen=True, dict=True):
    """A block of code. ``language`` is in small letters, empty where the document names none; ``lines`` have no indent."""

    language: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines together."""
        return "\n".join(line.text for line in self.lines)

    @property
    def span(self) -> Span:
        """The first line."""
        first = self.lines[0]
        return Span(first.line, first.column, first.line, first.column + len(first.text))

    @cached_property
    def is_shell(self) -> bool:
        """Whether the block is said to be shell text, or looks like it."""
        return self.language in SHELL or (
            self.language in ("", "text") and any(_looks_like_shell(line.text) for line in self.lines)
        )

    @cached_property
    def quoted(self) -> Quoted:
        """The commands of the block."""
        return read(self.lines)

    def recall(self, known: Mapping[str, Quoted]) -> tuple[str, Quoted]:
        """Take the commands from those of earlier runs, by a digest of the text; return both, as of the first line."""
        first = self.lines[0].line - 1
        lines = [Line(line.text, line.line - first, line.column) for line in self.lines]
        digest = hashlib.blake2b(msgspec.msgpack.encode(lines), digest_size=16).hexdigest()
        found = known.get(digest) or read(lines)
        vars(self)["quoted"] = moved(found, first) if first else found
        return digest, found


_COMMAND = regex(
    r"\s*(?:[A-Z_][A-Z0-9_]*=\S*\s+)*"
    r"(?:python3?\s+(?:-m\s+)?[\w./-]+|torchrun\s|(?:ba)?sh\s+[\w./-]+\.sh|ray\s+(?:job|start)|accelerate\s+launch|deepspeed\s)"
)


def _looks_like_shell(text: str) -> bool:
    return is_prompted(text) or _COMMAND.match(text) is not None


class Listing(msgspec.Struct, frozen=True):
    """The first cells of a table, or the first words of the items of a list, that are inline code."""

    entries: tuple[Piece, ...]


class Table(msgspec.Struct, frozen=True):
    """A table: the text of its header and of its rows, a cell each, and the line that each row stands in."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]


class Toctree(msgspec.Struct, frozen=True):
    """The documents that an index names, without suffix as they are written; ``globbed`` ones are patterns."""

    entries: tuple[Piece, ...]
    globbed: bool = False


class Document(msgspec.Struct, dict=True):
    """A document: its text and what was found in it, each in the order of the text.

    ``anchors`` are what a link into the document may name. ``labels`` are the targets of ``ref`` roles, which count in
    all documents. ``orphan`` says that it is meant to be in no index. ``prose`` is the text outside code and markers,
    line by line.
    """

    path: str
    text: str
    kind: str
    blocks: list[Block] = field(default_factory=list)
    codes: list[Piece] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    toctrees: list[Toctree] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    prose: list[Line] = field(default_factory=list)
    orphan: bool = False

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends."""
        return tuple(self.text.split("\n"))

    @property
    def folder(self) -> str:
        """The folder of the document, empty for the root."""
        return self.path.rpartition("/")[0]


class Offsets:
    """The way from offsets in a text to lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def start(self, line: int) -> int:
        """Return the offset at which a line (from 1) begins; that of the last line for those behind the end."""
        return self._starts[min(line, len(self._starts)) - 1]

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        return Span(*self._point(start), *self._point(end))

    def _point(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1
