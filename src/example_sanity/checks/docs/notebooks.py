"""Jupyter notebooks: the Markdown cells are a document, the code cells its blocks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from example_sanity.checks.docs import markdown
from example_sanity.checks.docs.model import Block, Document
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Span
from example_sanity.launch.quoted import Line

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Place(NamedTuple):
    line: int
    column: int


def read(path: str, text: str) -> Document:
    """Read a notebook. Raises Uninspectable (SYS002) where it is no JSON of that shape."""
    try:
        cells = json.loads(text)["cells"]
        pairs = [(str(cell["cell_type"]), _strings(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Uninspectable("SYS002", f"the file is no notebook: {error}") from error
    document = Document(path, text, "notebook")
    finder = _Finder(text)
    for kind, strings in pairs:
        lines = finder.lines(strings)
        if kind == "markdown":
            _take(document, markdown.read(path, "\n".join(line.text for line in lines)), lines)
        elif kind == "code" and lines:
            document.blocks += _blocks(lines)
    return document


def _strings(source: Any) -> list[str]:
    return [source] if isinstance(source, str) else [str(item) for item in source]


class _Finder:
    """Finds the strings of the cells in the text of the file, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cursor = 0
        self._line = 1

    def lines(self, strings: Sequence[str]) -> list[Line]:
        """Return the lines of a cell with their places; where a file escapes otherwise, that of the string before."""
        found: list[Line] = []
        for string in strings:
            place = self._place(string)
            found += [Line(text, *place) for text in string.removesuffix("\n").split("\n")]
        return found

    def _place(self, string: str) -> _Place:
        for written in (json.dumps(string, ensure_ascii=False), json.dumps(string)):
            at = self._text.find(written, self._cursor)
            if at >= 0:
                self._line += self._text.count("\n", self._cursor, at)
                self._cursor = at
                break
        return _Place(self._line, self._cursor - self._text.rfind("\n", 0, self._cursor) + 1)


def _blocks(lines: Sequence[Line]) -> list[Block]:
    """Part a cell into Python and the shell lines of its magics."""
    if re.match(r"%%(?:bash|sh)\b", lines[0].text):
        return [Block("bash", tuple(lines[1:]))] if len(lines) > 1 else []
    python = [replace(line, text="" if line.text[:1] in ("!", "%") else line.text) for line in lines]
    found = [Block("python", tuple(python))]
    for line in lines:
        magic = re.match(r"!\s*", line.text)
        if magic:
            start = magic.end()
            found.append(Block("bash", (Line(line.text[start:], line.line, line.column + start),)))
    return found


def _take(document: Document, cell: Document, lines: Sequence[Line]) -> None:
    """Add what a cell holds to the notebook, at the places of the file."""

    def span(old: Span) -> Span:
        first, last = lines[old.line - 1], lines[old.end_line - 1]
        return Span(first.line, first.column + old.column - 1, last.line, last.column + old.end_column - 1)

    def line(old: Line) -> Line:
        place = lines[old.line - 1]
        return Line(old.text, place.line, place.column + old.column - 1)

    document.codes += [replace(item, span=span(item.span)) for item in cell.codes]
    document.links += [replace(item, span=span(item.span)) for item in cell.links]
    document.blocks += [replace(item, lines=tuple(map(line, item.lines))) for item in cell.blocks]
    document.prose += [line(item) for item in cell.prose]
    document.anchors |= cell.anchors
