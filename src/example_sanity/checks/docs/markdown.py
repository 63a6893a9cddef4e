"""Markdown and MyST: blocks and inline parts by markdown-it, directives and roles of MyST by their shape."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.docs.directives import directive
from example_sanity.checks.docs.model import Block, Document, Link, Listing, Offsets, Piece, Table
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.launch.quoted import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = regex(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ATTRIBUTE = regex(r"\b(src|href|id|name)\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_LABEL = regex(r"^\(([\w.:/ -]+)\)=\s*$", re.MULTILINE)
_COLON_FENCE = regex(r"^([ \t]*)(:{3,})\{([\w:-]+)\}[ \t]*(.*)\n((?:.*\n)*?)\1\2[ \t]*$", re.MULTILINE)
_DIRECTIVE = regex(r"\{([\w:-]+)\}\s*(.*)")
_ROLE = regex(r"\{([\w:+.-]+)\}$")
_TITLED = regex(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
_PUNCTUATION = regex(r"[^\w\- ]")
# Attribute lists: "## Title {#name}" of Pandoc and MyST, "## Title {: #name }" of Python-Markdown and kramdown.
_ATTRIBUTES = regex(r"\{:?[ \t]*(?:[.\w=\"'-]+[ \t]+)*#([\w:.-]+)[^{}\n]*\}")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def read(path: str, text: str) -> Document:
    """Read a Markdown document."""
    return _Reader(Document(path, text, "markdown")).read()


def slug(title: str) -> str:
    """Return the anchor that GitHub gives to a heading; marks that combine, as behind an emoji, stay in it."""
    return _PUNCTUATION.sub(_mark, title.strip().lower()).replace(" ", "-")


def _mark(found: re.Match[str]) -> str:
    return found[0] if unicodedata.category(found[0]).startswith("M") else ""


class _Reader:
    """Goes through the tokens once; ``_cursor`` is where in the text the search for the next inline part begins."""

    def __init__(self, document: Document) -> None:
        self.document = document
        # Where lines end in CRLF, markdown-it takes the carriage return off and the offsets stay ours.
        self._offsets = Offsets(document.text)
        self._cursor = 0
        self._target_end = 0
        self._cells: list[Piece | None] = []
        self._rows: list[tuple[str, ...]] = []
        self._numbers: list[int] = []
        self._row: list[str] = []
        self._items: list[list[Piece | None]] = []
        self._slugs: dict[str, int] = {}

    def read(self) -> Document:
        """Fill the document and return it."""
        tokens = _parser().parse(self._without_front_matter())
        for index, token in enumerate(tokens):
            if token.type == "inline":
                self._inline(token, tokens[index - 1])
            elif token.type in ("fence", "code_block"):
                self._code(token)
            elif token.type == "html_block":
                self._html(token.content, *self._range(token))
            else:
                self._structure(token)
        self._marks()
        return self.document

    def _without_front_matter(self) -> str:
        text = self.document.text
        found = _FRONT_MATTER.match(text)
        if found is None:
            return text
        self.document.orphan = re.search(r"^orphan:\s*true\b", found[1], re.MULTILINE) is not None
        return "\n" * found[0].count("\n") + text[found.end() :]

    def _marks(self) -> None:
        """Collect what markdown-it does not know: labels and fences of colons."""
        document = self.document
        document.labels.update(found[1].lower() for found in _LABEL.finditer(document.text))
        document.anchors |= document.labels
        document.anchors.update(found[1] for found in _ATTRIBUTES.finditer(document.text))
        for found in _COLON_FENCE.finditer(document.text):
            first = document.text.count("\n", 0, found.start()) + 2
            body = found[5].split("\n")[:-1]
            lines = tuple(Line(text, first + n) for n, text in enumerate(body))
            directive(
                document,
                found[3],
                found[4],
                Line(found[4], first - 1, found.start(4) - found.start() + 1),
                lines,
            )

    def _range(self, token: Token) -> tuple[int, int]:
        """The offsets of the lines of a token."""
        first, last = token.map or (0, 0)
        return self._offsets.start(first + 1), self._offsets.start(last + 1) if last < len(
            self.document.lines
        ) else len(self.document.text)

    def _structure(self, token: Token) -> None:
        if token.type == "tr_open":
            self._cells, self._row = [], []
        elif token.type == "tr_close":
            self._rows.append(tuple(self._row))
        elif token.type == "table_open":
            self._rows, self._numbers, self._items = [], [], [*self._items, []]
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            self._items.append([])
        elif token.type in ("bullet_list_close", "ordered_list_close", "table_close"):
            self._close(token)

    def _close(self, token: Token) -> None:
        entries = tuple(item for item in self._items.pop() if item is not None)
        if entries:
            self.document.listings.append(Listing(entries))
        if token.type == "table_close" and self._rows:
            self.document.tables.append(Table(self._rows[0], tuple(self._rows[1:]), tuple(self._numbers[1:])))

    def _code(self, token: Token) -> None:
        first, last = token.map or (0, 0)
        found = _DIRECTIVE.match(token.info.strip()) if token.type == "fence" else None
        number = first + (2 if token.type == "fence" else 1)
        lines = self._lines(token.content, number)
        if found:
            directive(self.document, found[1], found[2], self._argument(first + 1, found[2]), lines)
        elif lines and last:
            info = token.info.strip().split()
            language = info[0].lower() if token.type == "fence" and info else ""
            self.document.blocks.append(Block(language.strip("{}."), lines))

    def _argument(self, number: int, text: str) -> Line:
        source = self.document.lines[number - 1]
        return Line(text, number, max(source.rfind(text), 0) + 1)

    def _lines(self, content: str, number: int) -> tuple[Line, ...]:
        """The lines of a block with the columns that they have in the file, where its indent is left out."""
        found = []
        for row, text in enumerate(content.split("\n")[:-1], number):
            source = self.document.lines[row - 1] if row <= len(self.document.lines) else ""
            found.append(
                Line(text.rstrip("\r"), row, max(len(source.rstrip("\r")) - len(text.rstrip("\r")), 0) + 1)
            )
        return tuple(found)

    def _inline(self, token: Token, opening: Token) -> None:
        start, end = self._range(token)
        self._cursor = max(start, self._cursor) if opening.type in ("td_open", "th_open") else start
        children = token.children or []
        pieces = list(self._children(children, end))
        if opening.type == "heading_open":
            self._anchor("".join(child.content for child in children))
        if opening.type in ("td_open", "th_open"):
            self._cell(token, pieces, opening)
        elif opening.type == "paragraph_open" and self._items and children:
            leading = children[0].type == "strong_open" or children[0].type == "code_inline"
            self._items[-1].append(pieces[0] if pieces and leading else None)

    def _cell(self, token: Token, pieces: Sequence[Piece], opening: Token) -> None:
        if not self._row:
            self._numbers.append((opening.map or token.map or (0, 0))[0] + 1)
            if opening.type == "td_open" and self._items:
                self._items[-1].append(pieces[0] if pieces else None)
        self._row.append(token.content)

    def _anchor(self, title: str) -> None:
        name = slug(_ATTRIBUTES.sub("", title))
        # A renderer may or may not drop the mark behind an emoji.
        self.document.anchors.add(_PUNCTUATION.sub("", name))
        count = self._slugs[name] = self._slugs.get(name, -1) + 1
        self.document.anchors.add(f"{name}-{count}" if count else name)

    def _children(self, children: Sequence[Token], end: int) -> Iterator[Piece]:
        """Collect the parts of a paragraph, and yield its inline code."""
        before = ""
        for index, child in enumerate(children):
            if child.type == "code_inline":
                span = self._find(child.content, end)
                role = _ROLE.search(before)
                if role:
                    self._role(role[1], child.content, span)
                else:
                    piece = Piece(child.content, span, self.document.lines[span.line - 1])
                    self.document.codes.append(piece)
                    yield piece
            elif child.type == "text":
                self._text(child.content, end)
            elif child.type == "html_inline":
                self._html(child.content, self._cursor, end)
            elif child.type in ("link_open", "image"):
                self._link(child, children[index + 1 :], end)
            elif child.type == "link_close":
                self._cursor = max(self._cursor, self._target_end)
            before = child.content if child.type == "text" else ""

    def _text(self, content: str, end: int) -> None:
        if content.strip():
            span = self._find(content, end)
            self.document.prose.append(Line(content, span.line, span.column))

    def _find(self, content: str, end: int) -> Span:
        """Return where a part stands, at or behind the last one; the line of the last one where it is written otherwise."""
        at = self.document.text.find(content, self._cursor, end)
        if at < 0:
            # A line break inside is a space in the token.
            pattern = r"\s+(?:>\s*)*".join(map(re.escape, content.split()))
            found = re.compile(pattern or "(?!)").search(self.document.text, self._cursor, end)
            if found is None:
                return self._offsets.span(self._cursor, self._cursor)
            self._cursor = found.end()
            return self._offsets.span(found.start(), found.end())
        self._cursor = at + len(content)
        return self._offsets.span(at, at + len(content))

    def _link(self, token: Token, following: Sequence[Token], end: int) -> None:
        target = str(token.attrs.get("src" if token.type == "image" else "href") or "")
        label = token.content if token.type == "image" else following[0].content if following else ""
        cursor = self._cursor
        span = self._place(target, end)
        if token.type != "image":
            self._target_end, self._cursor = self._cursor, cursor  # its text comes first
        self.document.links.append(Link(target, span, "image" if token.type == "image" else "link", label))

    def _place(self, target: str, end: int) -> Span:
        from urllib.parse import unquote

        for written in dict.fromkeys((target, unquote(target))):
            # The text of a link often is its target.
            behind = re.compile(rf"\]\(\s*<?{re.escape(written)}").search(
                self.document.text, self._cursor, end
            )
            at = self.document.text.find(written, self._cursor, end) if written else -1
            if behind and written:
                at = behind.end() - len(written)
            if at >= 0:
                self._cursor = at + len(written)
                return self._offsets.span(at, at + len(written))
        return self._offsets.span(self._cursor, self._cursor)

    def _role(self, name: str, content: str, span: Span) -> None:
        if name in ("doc", "ref", "numref", "download"):
            titled = _TITLED.fullmatch(content)
            kind = {"numref": "ref", "download": "include"}.get(name, name)
            self.document.links.append(
                Link(titled[2] if titled else content, span, kind, titled[1] if titled else "")
            )

    def _html(self, content: str, start: int, end: int) -> None:
        if content.startswith("<!--"):
            return
        at = self.document.text.find(content, start, end)
        base = start if at < 0 else at
        for found in _ATTRIBUTE.finditer(content):
            name, value = found[1].lower(), found[2]
            if name in ("id", "name"):
                self.document.anchors.add(value)
            else:
                span = self._offsets.span(base + found.start(2), base + found.end(2))
                self.document.links.append(Link(value, span, "image" if name == "src" else "link"))
