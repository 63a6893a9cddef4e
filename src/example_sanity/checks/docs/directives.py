"""What the directives of Sphinx and MyST say: code, files that are taken in, images, and the documents of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.docs.model import Block, Document, Link, Piece, Toctree
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.launch.quoted import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

_CODE = frozenset({"code", "code-block", "sourcecode", "prompt", "code-cell"})
_FILES = {"image": "image", "figure": "image", "literalinclude": "include", "include": "include"}
_OPTION = regex(r"\s*:([\w-]+):\s*(.*)")
_TITLED = regex(r".*<([^<>]+)>\s*")


def directive(document: Document, name: str, argument: str, place: Line, body: Sequence[Line]) -> bool:
    """Take up a directive; return whether its body is no text of the document.

    ``place`` is where the argument stands; ``body`` are the lines below, options first, without their common indent.
    """
    options, content = _split(body)
    if name in _CODE:
        if content:
            document.blocks.append(Block(argument.strip().split(" ")[0].lower(), tuple(content)))
    elif name in _FILES:
        target = argument.strip()
        span = Span(place.line, place.column, place.line, place.column + len(target))
        document.links.append(Link(target, span, _FILES[name]))
        return name != "figure"
    elif name == "toctree":
        document.toctrees.append(Toctree(tuple(_entries(content)), "glob" in options))
    else:
        return name.startswith("auto") or name in _OPAQUE
    return True


_OPAQUE = frozenset(
    {
        "math",
        "raw",
        "parsed-literal",
        "mermaid",
        "graphviz",
        "eval-rst",
        "bibliography",
        "csv-table",
        "highlight",
    }
)


def _split(body: Sequence[Line]) -> tuple[dict[str, str], list[Line]]:
    """Part the options from the content, blank lines around it left out."""
    options: dict[str, str] = {}
    index = 0
    while index < len(body) and (found := _OPTION.fullmatch(body[index].text)):
        options[found[1]] = found[2]
        index += 1
    content = list(body[index:])
    while content and not content[0].text.strip():
        content.pop(0)
    while content and not content[-1].text.strip():
        content.pop()
    return options, content


def _entries(content: Sequence[Line]) -> list[Piece]:
    found = []
    for line in content:
        text = line.text.strip()
        titled = _TITLED.fullmatch(text)
        entry = titled[1] if titled else text
        if entry and not entry.startswith(".. "):
            column = line.column + line.text.rindex(entry)
            found.append(Piece(entry, Span(line.line, column, line.line, column + len(entry)), line.text))
    return found
