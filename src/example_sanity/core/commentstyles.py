"""How comments are written in each kind of file, and which words of a file are prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    import tokenize
    from collections.abc import Iterator


class Style(msgspec.Struct, frozen=True):
    """Comments to the end of a line, comments in a block (either may be missing), and how a notice is written.

    ``line``, ``opening`` and ``closing`` are comment marks.
    """

    line: str = ""
    opening: str = ""
    closing: str = ""


_HASH = Style("#")
_C = Style("//", "/*", "*/")
_MARKUP = Style("", "<!--", "-->")
_BY_SUFFIX = {
    **dict.fromkeys(
        [
            "py",
            "pyi",
            "sh",
            "bash",
            "slurm",
            "sbatch",
            "yaml",
            "yml",
            "toml",
            "cfg",
            "ini",
            "cmake",
            "mk",
            "pl",
            "rb",
            "r",
            "jl",
            "tf",
        ],
        _HASH,
    ),
    **dict.fromkeys(
        [
            "c",
            "cc",
            "cpp",
            "cu",
            "cuh",
            "h",
            "hh",
            "hpp",
            "go",
            "rs",
            "java",
            "js",
            "jsx",
            "ts",
            "tsx",
            "kt",
            "swift",
            "scala",
            "proto",
        ],
        _C,
    ),
    **dict.fromkeys(["md", "html", "xml", "svg", "vue"], _MARKUP),
    "rst": Style(".. "),
    "css": Style("", "/*", "*/"),
    "lua": Style("--"),
    "sql": Style("--", "/*", "*/"),
}
_BY_NAME = {"Dockerfile": _HASH, "Makefile": _HASH, "CMakeLists.txt": _HASH}
DOCUMENTS = (".md", ".rst", ".txt")
SUFFIXES = (*_BY_SUFFIX, "txt")
NAMES = tuple(_BY_NAME)


class Prose(msgspec.Struct, frozen=True):
    """A piece of one line that people read: its line and its column (both from 1), and its text."""

    line: int
    column: int
    text: str


def style_of(path: str) -> Style | None:
    """Return how comments are written in a file, or None where that is not known."""
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0]
    return _BY_NAME.get(name) or _BY_NAME.get(stem) or _BY_SUFFIX.get(name.rpartition(".")[2].lower())


def is_text(path: str) -> bool:
    """Return whether a file is text of a known kind, by its name."""
    return path.endswith(DOCUMENTS) or style_of(path) is not None


def top_comments(path: str, text: str) -> list[tuple[int, str]]:
    """Return the numbers and the texts of the lines of the comments that a file starts with.

    In Python the docstring of the module counts as one. Blank lines may stand between them; the first line of code ends
    them. A file of unknown style has none.
    """
    style = style_of(path)
    if style is None:
        return []
    reader = _Top(style, (('"""', "'''") if path.endswith((".py", ".pyi")) else ()))
    return list(reader.read(text))


class _Top:
    def __init__(self, style: Style, quotes: tuple[str, ...]) -> None:
        self._style = style
        self._quotes = quotes
        self._closing = ""

    def read(self, text: str) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(text.splitlines(), 1):
            bare = line.strip().lstrip("\ufeff")
            if self._closing:
                yield number, self._inside(bare)
            elif self._style.line and bare.startswith(self._style.line.strip()):
                yield number, bare
            elif opened := self._opened(bare):
                yield number, self._inside(bare.partition(opened)[2])
            elif bare:
                return

    def _opened(self, bare: str) -> str:
        """The mark that opens a block on this line, whose end is then waited for."""
        marks = {quote: quote for quote in self._quotes}
        if self._style.opening:
            marks[self._style.opening] = self._style.closing
        # A docstring may be a raw string.
        raw = re.sub(r"^[rRuUbB]{1,2}(?=[\"'])", "", bare) if self._quotes else bare
        opening = next((mark for mark in marks if raw.startswith(mark)), "")
        self._closing = marks.get(opening, "")
        return opening

    def _inside(self, text: str) -> str:
        before, closing, _ = text.partition(self._closing)
        if closing:
            self._closing = ""
        return before


def prose(path: str, text: str) -> Iterator[Prose]:
    """Yield what people read in a file: a document without its code, or comments and docstrings."""
    if path.endswith(DOCUMENTS):
        yield from _document(text)
    elif path.endswith((".py", ".pyi")):
        yield from _python(text)
    else:
        yield from _comments(path, text)


def _comments(path: str, text: str) -> Iterator[Prose]:
    style = style_of(path)
    if style is None or not style.line:
        return
    pattern = re.compile(rf"(?:^|(?<=\s)){re.escape(style.line.strip())}+[^\S\n]*(?P<text>[^\n]*)")
    for number, line in enumerate(text.split("\n"), 1):
        found = pattern.search(line)
        if found and line[: found.start()].count('"') % 2 == 0 and line[: found.start()].count("'") % 2 == 0:
            yield Prose(number, found.start("text") + 1, found["text"].rstrip())


def _python(text: str) -> Iterator[Prose]:
    """Comments, and strings that are statements of their own."""
    import io
    import tokenize

    previous = tokenize.NEWLINE
    starts = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield Prose(token.start[0], token.start[1] + 1, token.string)
            elif token.type == tokenize.STRING and previous in starts:
                yield from _lines_of(token)
            if token.type not in (tokenize.NL, tokenize.COMMENT):
                previous = token.type
    # What stands before the broken place was yielded; SYS006 says the rest.
    except (tokenize.TokenError, SyntaxError):
        return


def _lines_of(token: tokenize.TokenInfo) -> Iterator[Prose]:
    first, offset = token.start
    for number, line in enumerate(token.string.split("\n")):
        yield Prose(first + number, offset + 1 if number == 0 else 1, line)


_FENCE = regex(r"\s*(```+|~~~+)")
_DIRECTIVE = regex(r"(\s*)\.\. (?:code-block|code|sourcecode|literalinclude|parsed-literal|math|highlight)::")


def _document(text: str) -> Iterator[Prose]:
    """The lines of a document outside of code: fences, directives for code, and what follows ``::`` indented."""
    fence, block = "", -1
    for number, line in enumerate(text.split("\n"), 1):
        width = len(line) - len(line.lstrip())
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found := _FENCE.match(line):
            fence = found[1]
        elif block >= 0 and (not line.strip() or width > block):
            continue
        else:
            block = width if _DIRECTIVE.match(line) or line.rstrip().endswith("::") else -1
            yield Prose(number, 1, line)
