"""reStructuredText: a scanner for blocks and inline markup that knows no directive or role too many.

docutils stops at each role and directive of Sphinx and gives no columns; what documents say of files, commands and keys
stands in a few kinds of markup, which this reads by their shape.
"""

from __future__ import annotations

import re

from example_sanity.checks.docs.directives import directive
from example_sanity.checks.docs.model import Block, Document, Link, Listing, Offsets, Piece
from example_sanity.core.comments import indent
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.launch.quoted import Line

_DIRECTIVE = regex(r"(\s*)\.\.\s+(?:\|[^|]+\|\s+)?([\w:-]+)::\s*(.*)")
_LABEL = regex(r"\s*\.\.\s+_([^:]+):\s*(.*)")
_COMMENT = regex(r"(\s*)\.\.(?:\s|$)")
_UNDERLINE = regex(r"([=\-~^\"'`#*+:._<>])\1{2,}\s*")
_INLINE = regex(
    r"``(?P<code>(?:[^`\n]|`(?!`)|\n(?!\s*(?:\n|[-*+#.]\s)))+)``"
    r"|:(?P<role>[\w:+.-]+):`(?P<content>[^`]+)`"
    r"|`(?P<text>[^`<>]*)<(?P<target>[^<>`]+)>`__?"
    r"|(?<![\w`])`(?P<plain>[^`\s][^`]*)`(?!_|`)",
)
_TITLED = regex(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
_ITEM = regex(r"\s*(?:[-*+]|\d+\.|#\.)\s+")


def read(path: str, text: str) -> Document:
    """Read an RST document."""
    return _Reader(Document(path, text, "rst")).read()


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self._lines = [line.rstrip("\r") for line in document.lines]
        self._prose = list(self._lines)

    def read(self) -> Document:
        """Fill the document and return it."""
        index = 0
        while index < len(self._lines):
            index = self._line(index)
        self._inline()
        self.document.orphan = self._lines[0].strip() == ":orphan:"
        return self.document

    def _line(self, index: int) -> int:
        """Take up what begins in a line, and return the index of the line to go on with."""
        line = self._lines[index]
        if found := _DIRECTIVE.match(line):
            return self._directive(index, found)
        if found := _LABEL.match(line):
            self._label(index, found)
        elif found := _COMMENT.match(line):
            return self._skip(index, self._end(index, len(found[1])))
        elif line.rstrip().endswith("::"):
            return self._literal(index)
        elif (
            index
            and _UNDERLINE.fullmatch(line)
            and len(line.rstrip()) >= len(self._lines[index - 1].rstrip()) > 0
        ):
            self.document.anchors.add(_identifier(self._lines[index - 1]))
        return index + 1

    def _end(self, index: int, width: int) -> int:
        """The index behind the lines that are indented below a line."""
        end = index + 1
        while end < len(self._lines) and (not self._lines[end].strip() or indent(self._lines[end]) > width):
            end += 1
        while end > index + 1 and not self._lines[end - 1].strip():
            end -= 1
        return end

    def _skip(self, start: int, end: int) -> int:
        self._prose[start:end] = [""] * (end - start)
        return end

    def _body(self, start: int, end: int) -> tuple[Line, ...]:
        """The lines without their common indent."""
        texts = self._lines[start:end]
        width = min((indent(text) for text in texts if text.strip()), default=0)
        return tuple(Line(text[width:], start + n + 1, width + 1) for n, text in enumerate(texts))

    def _directive(self, index: int, found: re.Match[str]) -> int:
        end = self._end(index, len(found[1]))
        place = Line(found[3], index + 1, found.start(3) + 1)
        opaque = directive(self.document, found[2], found[3], place, self._body(index + 1, end))
        return self._skip(index, end if opaque else index + 1)

    def _label(self, index: int, found: re.Match[str]) -> None:
        name, target = found[1].strip("`").lower(), found[2].strip()
        self._prose[index] = ""
        if target:
            span = Offsets(self._lines[index]).span(found.start(2), found.start(2) + len(target))
            line = index + 1
            self.document.links.append(Link(target, _moved(span, line), "link", name))
        else:
            self.document.labels.add(name)
            self.document.anchors.add(name)

    def _literal(self, index: int) -> int:
        end = self._end(index, indent(self._lines[index]))
        start = index + 1
        while start < end and not self._lines[start].strip():
            start += 1
        if start == index + 1 or start == end:
            return index + 1  # nothing is quoted without a blank line between
        self.document.blocks.append(Block("", self._body(start, end)))
        return self._skip(start, end)

    def _inline(self) -> None:
        """Find inline markup in what is left; it may go over several lines."""
        text = "\n".join(self._prose)
        offsets = Offsets(text)
        items: list[Piece] = []
        for found in _INLINE.finditer(text):
            group = next(name for name in ("code", "content", "target", "plain") if found[name] is not None)
            span = offsets.span(*found.span(group))
            line = self._prose[span.line - 1]
            if group in ("code", "plain"):
                piece = Piece(" ".join(found[group].split()), span, line)
                self.document.codes.append(piece)
                if _ITEM.fullmatch(
                    line[: span.column - len(found[0][: found.start(group) - found.start()]) - 1]
                ):
                    items.append(piece)
            elif group == "content":
                self._role(found["role"], found["content"], found.start("content"), offsets)
            else:
                self.document.links.append(Link(found["target"], span, "link", found["text"].strip()))
        if items:
            self.document.listings.append(Listing(tuple(items)))
        bare = _INLINE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.document.prose = [Line(line, n) for n, line in enumerate(bare.split("\n"), 1) if line.strip()]

    def _role(self, name: str, content: str, start: int, offsets: Offsets) -> None:
        kind = {"doc": "doc", "ref": "ref", "numref": "ref", "download": "include"}.get(name)
        if kind is None:
            return
        titled = _TITLED.fullmatch(content)
        at = titled.start(2) if titled else 0
        target = titled[2] if titled else content
        span = offsets.span(start + at, start + at + len(target))
        self.document.links.append(Link(target, span, kind, titled[1] if titled else ""))


def _moved(span: Span, line: int) -> Span:
    return Span(line, span.column, line, span.end_column)


def _identifier(title: str) -> str:
    """Return the anchor that docutils gives to a section."""
    return re.sub(r"[^a-z0-9]+", "-", title.strip().lower()).strip("-")
