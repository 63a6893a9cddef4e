"""Command lines that a text quotes: a block of a document, a ``run:`` step of a workflow, a piece of inline code.

Such a block is no script: it has prompts and output, placeholders such as ``<your-model>``, and expressions of a template
language. Those are set aside, then bashlex reads it, and tree-sitter what bashlex cannot. Positions are those of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from example_sanity.core.finding import Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node, Tree

    from example_sanity.launch.syntax import CommandSite, Script

# "$ ls", ">> ls", "(venv) $ ls", "user@host:~/verl# ls", "root@host $ ls"; a bare "#" begins a comment.
_PROMPT = regex(
    r"\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[^\s$#%]*\s?[$#%]|[$%\u276f\u279c]|>{1,2})\s+(?=\S)"
)
_CONTINUED = regex(r"\s*>\s+")
_TEMPLATE = regex(r"\$\{\{.*?\}\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_PLACEHOLDER = regex(r"<(?=/?[^\W\d_])[^<>\n|;&`$\"']{0,79}(?<!\s)>")
_COMMENT = regex(r"\s*#.*")
# "...", "[other options...]", "[OPTIONS]", "(more arguments)": stands for more of the same.
_LEFT_OUT = regex(
    r"(?<!\S)(?:\.{3}|…|\[[^\[\]\n]*(?:\.{3}|…)[^\[\]\n]*\]|\[(?i:options|flags|args|arguments)\]|\((?:other|more)[\w ]*\))(?!\S)"
)
_PIECE = regex(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+|['"])""", re.DOTALL)
_IN_DOUBLE = regex(r"\\([$`\"\\])")
_EXPANSION = regex(r"\$[\w{(@*#?!$-]|`")
_POSITION = regex(r"line \d+(?:, column \d+)?: ")  # in the block, which nobody counts from
_ASSIGNMENT = regex(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)


class Line(msgspec.Struct, frozen=True):
    """One line of quoted text, without its end, and where in the file it begins (both from 1)."""

    text: str
    line: int
    column: int = 1


class QuotedWord(msgspec.Struct, frozen=True):
    """A word of a command. ``text`` is what it means where it is ``fixed``, else its source without quotes.

    A word is not fixed when it holds an expansion, a template expression or a placeholder in angle brackets.
    """

    text: str
    span: Span
    fixed: bool = True


class QuotedCommand(msgspec.Struct, frozen=True):
    """A simple command: the assignments in front of it, and its words; both may be empty, not together."""

    words: tuple[QuotedWord, ...]
    environment: tuple[tuple[str, QuotedWord], ...]
    span: Span

    @property
    def name(self) -> str | None:
        """The first word where it is fixed."""
        return self.words[0].text if self.words and self.words[0].fixed else None


class NotRead(msgspec.Struct, frozen=True):
    """A stretch that could not be read as shell text, and why."""

    span: Span
    reason: str


class Quoted(msgspec.Struct, frozen=True):
    """What a block holds. ``text`` is its shell text alone, line for line: the rest is blank, placeholders are variables.

    ``reader`` says who read it: ``bashlex``, ``tree-sitter``, or nobody where there is no command (empty). ``abridged`` says
    that dots stand for more of a command.
    """

    lines: tuple[Line, ...]
    text: str
    commands: tuple[QuotedCommand, ...]
    problems: tuple[NotRead, ...] = ()
    reader: str = ""
    abridged: bool = False


def read(lines: Sequence[Line]) -> Quoted:
    """Read the commands of a block. What cannot be read is in ``problems``; nothing is raised for it."""
    places = _Places(_without_prompts(lines))
    text = places.masked
    abridged = any(_LEFT_OUT.search(line.text) for line in lines)
    if not text.strip():
        return Quoted(places.lines, text, ())
    nodes = _by_bashlex(text)
    if nodes is not None:
        return Quoted(places.lines, text, tuple(_walk(nodes, places)), (), "bashlex", abridged)
    from example_sanity.launch.syntax import parse

    script = parse("", text.encode("utf-8", "surrogateescape"))
    problem = _problem(script, places)
    commands = _by_tree_sitter(script, places)
    if problem is None:
        return Quoted(places.lines, text, commands, (), "tree-sitter", abridged)
    # What stands in front of the error was read as it is; behind it the tree is a guess.
    before = tuple(item for item in commands if item.span.end_line < problem.span.line)
    return Quoted(places.lines, text, before, (problem,), "tree-sitter", abridged)


def moved(found: Quoted, lines: int) -> Quoted:
    """Return what was read of a block that stands some lines further down."""

    def span(old: Span) -> Span:
        return Span(old.line + lines, old.column, old.end_line + lines, old.end_column)

    def word(old: QuotedWord) -> QuotedWord:
        return QuotedWord(old.text, span(old.span), old.fixed)

    return replace(
        found,
        lines=tuple(Line(item.text, item.line + lines, item.column) for item in found.lines),
        commands=tuple(
            QuotedCommand(
                tuple(map(word, item.words)),
                tuple((name, word(value)) for name, value in item.environment),
                span(item.span),
            )
            for item in found.commands
        ),
        problems=tuple(NotRead(span(item.span), item.reason) for item in found.problems),
    )


def is_prompted(text: str) -> bool:
    """Return whether a line begins with a prompt."""
    return _PROMPT.match(text) is not None


def _without_prompts(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Blank what is no command: output between prompts, the prompts themselves, comments."""
    prompted = any(is_prompted(line.text) for line in lines)
    found: list[Line] = []
    goes_on = not prompted
    for line in lines:
        prompt = _PROMPT.match(line.text) if prompted else None
        if prompt is None and prompted and goes_on:
            prompt = _CONTINUED.match(line.text)
        start = prompt.end() if prompt else 0
        shown = line.text[start:].rstrip("\r") if prompt or goes_on else ""
        found.append(Line(_bare(shown), line.line, line.column + start))
        goes_on = not prompted or shown.rstrip().endswith("\\")
    return tuple(found)


def _bare(text: str) -> str:
    return "" if _COMMENT.fullmatch(text) else _LEFT_OUT.sub(lambda found: " " * len(found[0]), text)


class _Places:
    """The text of a block, and the way from offsets in it to the file."""

    def __init__(self, lines: tuple[Line, ...]) -> None:
        self.lines = lines
        self.text = "\n".join(line.text for line in lines) + "\n"
        self.masks: list[tuple[int, int]] = []

    @cached_property
    def masked(self) -> str:
        """The text with a variable of the same length in place of each placeholder and template expression."""
        text = self.text
        for pattern in (_TEMPLATE, _PLACEHOLDER):
            text = pattern.sub(self._mask, text)
        return text

    def _mask(self, found: re.Match[str]) -> str:
        self.masks.append(found.span())
        if "\n" in found[0] or len(found[0]) < 4:
            return re.sub(r"[^\n]", "x", found[0])
        return f"${{{'x' * (len(found[0]) - 3)}}}"

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def _point(self, offset: int) -> tuple[int, int]:
        row = min(bisect_right(self._starts, offset) - 1, len(self.lines) - 1)
        line = self.lines[row]
        return line.line, line.column + offset - self._starts[row]

    def span(self, start: int, end: int) -> Span:
        """Return the place in the file of the characters from ``start`` to ``end`` (exclusive)."""
        return Span(*self._point(start), *self._point(end))

    def word(self, start: int, end: int) -> QuotedWord:
        """Return the word between two offsets."""
        meaning, fixed = _unquoted(self.text[start:end])
        masked = any(low < end and start < high for low, high in self.masks)
        return QuotedWord(meaning, self.span(start, end), fixed and not masked)


def _unquoted(source: str) -> tuple[str, bool]:
    """Return what a word means, and whether it holds no expansion. (bashlex errs where quotes follow each other.)"""
    meaning, fixed = "", not source.startswith("~")
    for single, double, escaped, bare in _PIECE.findall(source):
        fixed = fixed and not _EXPANSION.search(re.sub(r"\\.", "", double, flags=re.DOTALL) or bare)
        meaning += single + _IN_DOUBLE.sub(r"\1", double).replace("\\\n", "") + escaped.strip("\n") + bare
    return meaning, fixed


def _by_bashlex(text: str) -> list[Any] | None:
    """Return the trees of bashlex, or None where it gives up."""
    import bashlex

    try:
        # A comment or an empty line in front of the first command is an error to it.
        leading = len(text) - len(text.lstrip())
        return list(bashlex.parse(" " * leading + text[leading:]))
    except Exception:  # beside its own errors it lets those of its lexer and parser through
        return None


def _walk(nodes: Sequence[Any], places: _Places) -> Iterator[QuotedCommand]:
    """Yield the simple commands below the nodes of bashlex, in source order."""
    for node in nodes:
        if node.kind == "command":
            yield from _from_node(node, places)
        inner = [*getattr(node, "parts", ()), *getattr(node, "list", ())]
        if hasattr(node, "command"):
            inner.append(node.command)
        yield from _walk(inner, places)


def _from_node(node: Any, places: _Places) -> Iterator[QuotedCommand]:
    words: list[QuotedWord] = []
    environment: list[tuple[str, QuotedWord]] = []
    for part in node.parts:
        if part.kind not in ("word", "assignment"):
            continue
        word = places.word(*part.pos)
        if part.kind == "assignment" and not words:
            environment += _assignments(word)
        else:
            words.append(word)
    if words or environment:
        yield QuotedCommand(tuple(words), tuple(environment), places.span(*node.pos))


def _assignments(word: QuotedWord) -> Iterator[tuple[str, QuotedWord]]:
    if found := _ASSIGNMENT.fullmatch(word.text):
        yield found[1], QuotedWord(found[2], word.span, word.fixed)


def _by_tree_sitter(script: Script, places: _Places) -> tuple[QuotedCommand, ...]:
    """Return the simple commands of a script, ``export`` and its like among them; offsets there count bytes."""
    found = [_from_site(site, script, places) for site in script.commands]
    found += [_from_declaration(node, script, places) for node in _declarations(script)]
    return tuple(sorted(found, key=lambda command: command.span))


def _from_site(site: CommandSite, script: Script, places: _Places) -> QuotedCommand:
    prefix = list(_prefix(site, script))
    assigned = (_word(script, places, start, end) for start, end in prefix)
    environment = tuple(pair for item in assigned for pair in _assignments(item))
    words = tuple(_word(script, places, item.start, item.end) for item in site.words)
    start = prefix[0][0] if prefix else site.start
    span = places.span(_characters(script, start), _characters(script, site.end))
    return QuotedCommand(words, environment, span)


def _from_declaration(node: Node, script: Script, places: _Places) -> QuotedCommand:
    words = tuple(_word(script, places, child.start_byte, child.end_byte) for child in node.children)
    span = places.span(_characters(script, node.start_byte), _characters(script, node.end_byte))
    return QuotedCommand(words, (), span)


def _word(script: Script, places: _Places, start: int, end: int) -> QuotedWord:
    return places.word(_characters(script, start), _characters(script, end))


def _declarations(script: Script) -> Iterator[Node]:
    """Yield the commands that the grammar knows by name: ``export``, ``declare``, ``unset``."""
    tree = cast("Tree", script.tree)
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if node.type in ("declaration_command", "unset_command"):
            yield node
        stack += reversed(node.named_children)


def _prefix(site: CommandSite, script: Script) -> Iterator[tuple[int, int]]:
    """Yield the first byte and the end of each assignment in front of a command."""
    node = cast("Tree", script.tree).root_node.descendant_for_byte_range(site.start, site.end)
    for child in node.named_children if node is not None and node.type == "command" else ():
        if child.type == "variable_assignment":
            yield child.start_byte, child.end_byte


def _characters(script: Script, offset: int) -> int:
    return len(script.data[:offset].decode("utf-8", "surrogateescape"))


def _problem(script: Script, places: _Places) -> NotRead | None:
    if not script.errors:
        return None
    # tree-sitter stumbles over some valid text, so the grammar of the sandbox has the last word.
    from example_sanity.launch.evaluator import syntax_error

    error = syntax_error(script)
    if error is None:
        return None
    first = places.lines[min(script.errors[0].line, len(places.lines)) - 1]
    end = max(first.column + len(first.text), first.column + 1)
    return NotRead(Span(first.line, first.column, first.line, end), _POSITION.sub("", error))
