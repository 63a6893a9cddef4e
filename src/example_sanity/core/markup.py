"""Comments of Markdown and reStructuredText. What the text only quotes (code blocks, inline code) is no comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.comments import NOTHING, Comment, indent, is_blank
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = regex(r"\s*(?:[-*+>]\s+|>)*(`{3,}|~{3,})")
_INLINE_CODE = regex(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_HTML_COMMENT = regex(r"<!--\s*(.*?)\s*-->")
_RST_COMMENT = regex(r"(\s*)\.\.\s+(.*?)\s*$")
_DIRECTIVE = regex(r"\s*\.\.\s+([\w:-]+)::")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "prompt", "raw", "math"})


class MarkdownComments:
    """Markdown and MyST. A comment covers the next block: a fenced block, or the lines up to a blank one."""

    opening = "<!-- "
    closing = " -->"
    blank_after = False

    def matches(self, path: str) -> bool:
        """Return whether the file is of this kind."""
        return path.endswith((".md", ".markdown"))

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs."""
        lines = text.split("\n")
        fenced = _fences(lines)
        result = []
        for number, line in enumerate(lines, 1):
            if word not in line.lower() or fenced[number - 1]:
                continue
            bare = _INLINE_CODE.sub(lambda found: " " * len(found[0]), line)
            for found in _HTML_COMMENT.finditer(bare):
                if word in found[1].lower():
                    own = not (line[: found.start()].lstrip(" \t>") + line[found.end() :]).strip()
                    covers = self._block(lines, fenced, number) if own else (number, number)
                    result.append(Comment(number, found.start() + 1, found.end() + 1, found[1], covers, own))
        return result

    def _block(self, lines: Sequence[str], fenced: Sequence[int], index: int) -> tuple[int, int]:
        while index < len(lines) and (is_blank(lines, index) or _is_comment(lines[index])):
            index += 1
        if index == len(lines):
            return NOTHING
        last = index
        while last + 1 < len(lines) and _goes_on(lines, fenced, index, last + 1):
            last += 1
        return index + 1, last + 1

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the first line of the block."""
        lines = text.split("\n")
        fenced = _fences(lines)
        index = line - 1
        block = fenced[index]
        while index > 0 and (fenced[index - 1] == block if block else not is_blank(lines, index - 1)):
            index -= 1
        yield index + 1

    def top(self, text: str) -> int:
        """Return the line below the front matter."""
        lines = text.split("\n")
        if lines[0].strip() == "---" and "---" in (rest := [line.strip() for line in lines[1:]]):
            return rest.index("---") + 3
        return 1

    def structure(self, text: str) -> object:
        """Return the lines that are no comments, with the blocks of code that they belong to."""
        lines = text.split("\n")
        pairs = zip(lines, _fences(lines), strict=True)
        return [(line, block > 0) for line, block in pairs if not _is_comment(line) or block]

    def is_valid(self, text: str) -> bool:
        """Return True: any text is."""
        del text
        return True


def _fences(lines: Sequence[str]) -> list[int]:
    """For each line the number of the fenced block that it belongs to, fences included; 0 outside."""
    result, fence, number = [], "", 0
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            closes = found and found[1].startswith(fence) and not line[found.end() :].strip()
            result.append(number)
            fence = "" if closes else fence
        elif found:
            fence, number = found[1], number + 1
            result.append(number)
        else:
            result.append(0)
    return result


def _goes_on(lines: Sequence[str], fenced: Sequence[int], first: int, index: int) -> bool:
    return fenced[index] == fenced[first] if fenced[first] else not is_blank(lines, index)


def _is_comment(line: str) -> bool:
    return bool(_HTML_COMMENT.fullmatch(line.lstrip(" \t>").rstrip()))


class RstComments:
    """reStructuredText. A comment covers the next block and what is indented below it."""

    opening = ".. "
    closing = ""
    blank_after = True

    def matches(self, path: str) -> bool:
        """Return whether the file is of this kind."""
        return path.endswith((".rst", ".rest"))

    def comments(self, text: str, word: str) -> list[Comment]:
        """Return the comments in which ``word`` occurs."""
        lines = text.split("\n")
        literal = _literal_lines(lines)
        result = []
        for number, line in enumerate(lines, 1):
            found = _RST_COMMENT.match(line) if word in line.lower() and not literal[number - 1] else None
            if found and not _DIRECTIVE.match(line):
                covers = self._block(lines, number)
                result.append(
                    Comment(number, found.end(1) + 1, len(line.rstrip()) + 1, found[2], covers, True)
                )
        return result

    def _block(self, lines: Sequence[str], index: int) -> tuple[int, int]:
        while index < len(lines) and (is_blank(lines, index) or _is_rst_comment(lines[index])):
            index += 1
        if index == len(lines):
            return NOTHING
        first = last = index
        in_paragraph = True
        for at in range(first + 1, len(lines)):
            if is_blank(lines, at):
                in_paragraph = False
            elif in_paragraph or indent(lines[at]) > indent(lines[first]):
                last = at
            else:
                break
        return first + 1, last + 1

    def anchors(self, text: str, line: int) -> Iterator[int]:
        """Yield the first line of the paragraph that is not inside a block of code, then of those around it."""
        lines = text.split("\n")
        literal = _literal_lines(lines)
        width = indent(lines[line - 1]) + 1
        for index in range(line - 1, -1, -1):
            starts = index == 0 or is_blank(lines, index - 1)
            if not is_blank(lines, index) and starts and not literal[index] and indent(lines[index]) < width:
                width = indent(lines[index])
                yield index + 1

    def top(self, text: str) -> int:
        """Return the first line."""
        del text
        return 1

    def structure(self, text: str) -> object:
        """Return the lines that are neither comments nor blank, with whether they are code."""
        lines = text.split("\n")
        pairs = zip(lines, _literal_lines(lines), strict=True)
        return [(line, code) for line, code in pairs if line.strip() and (code or not _is_rst_comment(line))]

    def is_valid(self, text: str) -> bool:
        """Return True: any text is."""
        del text
        return True


def _is_rst_comment(line: str) -> bool:
    return bool(re.match(r"\s*\.\.\s+(?:example-)?sanity\b", line)) and not _DIRECTIVE.match(line)


def _literal_lines(lines: Sequence[str]) -> list[bool]:
    """Whether each line is quoted: below a paragraph that ends in ``::``, or in a directive that shows code."""
    result: list[bool] = []
    depth: int | None = None
    for line in lines:
        if line.strip() and depth is not None and indent(line) <= depth:
            depth = None
        result.append(depth is not None)
        if depth is None and line.strip():
            directive = _DIRECTIVE.match(line)
            shows = directive[1] in _CODE if directive else line.rstrip().endswith("::")
            depth = indent(line) if shows else None
    return result
