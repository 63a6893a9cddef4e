"""The comments of a file, what each of them stands in front of, and where a new one may be put."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NOTHING = (1, 0)


class Comment(msgspec.Struct, frozen=True):
    """A comment of one line.

    ``column`` and ``end_column`` enclose it with its markers (from 1, end exclusive), ``text`` is what stands between
    the markers. ``covers`` are the first and the last line that it speaks of: its own line behind code, otherwise the
    whole statement, entry or block below it; the first is larger than the last where there is none.
    """

    line: int
    column: int
    end_column: int
    text: str
    covers: tuple[int, int]
    own_line: bool


class CommentReader(Protocol):
    """Knows the comments of one kind of file. Every method is a function of the text alone and never raises."""

    opening: str
    closing: str
    blank_after: bool  # whether a comment on a line of its own wants a blank line below

    def matches(self, path: str) -> bool:
        """Return whether the file is of this kind, by its name."""
        ...

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs, in order."""
        ...

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the lines in front of which a comment may stand that covers ``line``, the nearest first."""
        ...

    def top(self, text: str) -> int:
        """Return the line in front of which a comment on the whole file belongs."""
        ...

    def structure(self, text: str) -> object:
        """Return something that is equal for two texts that differ in comments only."""
        ...

    def is_valid(self, text: str) -> bool:
        """Return whether the text parses."""
        ...


def indent(line: str) -> int:
    """The width of the white space that a line starts with."""
    return len(line) - len(line.lstrip())


def is_blank(lines: Sequence[str], index: int) -> bool:
    """Whether the line holds nothing but white space."""
    return not lines[index].strip()


def marked(lines: Iterable[str], opening: str, word: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield line number, column, end column and text of comments to the end of the line that hold ``word``.

    The last ``opening`` in front of the word begins the comment. Quotes are not looked at.
    """
    pattern = re.compile(rf"(?:^|(?<=\s)){re.escape(opening)}+\s*(?=[^{re.escape(opening)}]*{word})", re.I)
    for number, line in enumerate(lines, 1):
        found = pattern.search(line) if word in line.lower() else None
        if found:
            yield number, found.start() + 1, len(line.rstrip()) + 1, line[found.end() :].rstrip()


class HashComments:
    """YAML, TOML, INI and other line-based files. A comment covers the entry below it: what is indented deeper."""

    opening = "# "
    closing = ""
    blank_after = False
    _SUFFIXES = (".yaml", ".yml", ".toml", ".cfg", ".ini")

    def matches(self, path: str) -> bool:
        """Return whether the file is of this kind."""
        return path.endswith(self._SUFFIXES) or path.rpartition("/")[2] == "CODEOWNERS"

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs."""
        lines = text.split("\n")
        result = []
        for number, column, end, content in marked(lines, "#", word):
            before = lines[number - 1][: column - 1]
            if before.count('"') % 2:
                continue
            own = not before.strip()
            covers = self._entry(lines, number) if own else (number, number)
            result.append(Comment(number, column, end, content, covers, own))
        return result

    def _entry(self, lines: Sequence[str], index: int) -> tuple[int, int]:
        while index < len(lines) and (is_blank(lines, index) or lines[index].lstrip().startswith("#")):
            index += 1
        if index == len(lines):
            return NOTHING
        first, width = index, indent(lines[index])
        is_item = lines[first].lstrip().startswith("- ")
        last = first
        for at in range(first + 1, len(lines)):
            # YAML lets the items of a list stand as deep as their key.
            same = (
                indent(lines[at]) == width and lines[at].lstrip().startswith(("- ", "]", "}")) and not is_item
            )
            if not is_blank(lines, at):
                if indent(lines[at]) <= width and not same:
                    break
                last = at
        return first + 1, last + 1

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the line itself, then the lines that it is indented under."""
        lines = text.split("\n")
        width = indent(lines[line - 1]) + 1
        for number in range(line, 0, -1):
            if not is_blank(lines, number - 1) and indent(lines[number - 1]) < width:
                width = indent(lines[number - 1])
                yield number

    def top(self, text: str) -> int:
        """Return the first line."""
        del text
        return 1

    def structure(self, text: str) -> object:
        """Return the events of a YAML text, the values of a TOML text, or the lines that are no comments."""
        for parse in (_toml, _yaml):
            parsed = parse(text)
            if parsed is not None:
                return parsed
        return [line for line in text.split("\n") if not line.lstrip().startswith("#")]

    def is_valid(self, text: str) -> bool:
        """Return whether the text parses as TOML or YAML."""
        return _toml(text) is not None or _yaml(text) is not None


def _toml(text: str) -> object:
    from example_sanity.core.config import parse_toml

    try:
        return parse_toml(text)
    except ValueError:
        return None


def _yaml(text: str) -> object:
    import yaml

    try:
        events = list(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, ValueError):
        return None
    return [(type(e).__name__, getattr(e, "value", None), getattr(e, "anchor", None)) for e in events]


class PythonComments:
    """Python. A comment covers the statement below it, or the element of a display that it stands in front of."""

    opening = "# "
    closing = ""
    blank_after = False

    def matches(self, path: str) -> bool:
        """Return whether the file is of this kind."""
        return path.endswith((".py", ".pyi"))

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs, as the tokens of the file say."""
        real = set(_comment_places(text))
        lines = text.split("\n")
        ends = None
        result = []
        for number, column, end, content in marked(lines, "#", word):
            if not any(line == number and start <= column for line, start in real):
                continue
            own = not lines[number - 1][: column - 1].strip()
            ends = _ends(text) if ends is None else ends
            result.append(
                Comment(number, column, end, content, _below(ends, number) if own else (number, number), own)
            )
        return result

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the first lines of the statements around the line, the innermost first."""
        statements = [node for node in _nodes(text) if isinstance(node, ast.stmt)]
        around = {_start(node) for node in statements if _start(node) <= line <= (node.end_lineno or 0)}
        yield from sorted(around, reverse=True)

    def top(self, text: str) -> int:
        """Return the line below the interpreter and the encoding."""
        return top_of_script(text)

    def structure(self, text: str) -> object:
        """Return the syntax tree as text, or the lines where there is none."""
        try:
            return ast.dump(ast.parse(text))
        except (SyntaxError, ValueError):
            return text

    def is_valid(self, text: str) -> bool:
        """Return whether the text parses."""
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
        return True


def top_of_script(text: str) -> int:
    """The first line that is neither ``#!`` nor an encoding."""
    lines = text.split("\n")
    for number, line in enumerate(lines[:2], 1):
        if not (number == 1 and line.startswith("#!")) and not re.match(r"#.*coding[:=]", line):
            return number
    return min(3, len(lines) + 1)


def _comment_places(text: str) -> Iterator[tuple[int, int]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1] + 1
    except (tokenize.TokenError, SyntaxError):
        return


def _nodes(text: str) -> list[ast.stmt | ast.expr]:
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt | ast.expr)]
    except (SyntaxError, ValueError):
        return []


def _start(node: ast.stmt | ast.expr) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


def _ends(text: str) -> dict[int, int]:
    """For each line on which a statement or expression starts, the last line of the longest one."""
    ends: dict[int, int] = {}
    for node in _nodes(text):
        ends[_start(node)] = max(node.end_lineno or 0, ends.get(_start(node), 0))
    return ends


def _below(ends: dict[int, int], line: int) -> tuple[int, int]:
    first = min((start for start in ends if start > line), default=None)
    return NOTHING if first is None else (first, ends[first])
