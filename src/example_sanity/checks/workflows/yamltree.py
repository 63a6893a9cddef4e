"""YAML with positions: nodes of PyYAML, and where each character of a scalar stands in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from example_sanity.checks.workflows.model import Item, Text
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Span
from example_sanity.core.textplaces import own_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tree:
    """A YAML text. Nodes are those of PyYAML; what is not there is None, and None has nothing in it.

    Keys are compared as they are written: ``on`` is text here, not a truth value.
    """

    def __init__(self, text: str) -> None:
        """Parse the text. Raises Uninspectable (SYS001)."""
        import yaml

        self.lines = text.split("\n")
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self.root: Any = yaml.compose(text, Loader=loader)
        except (yaml.YAMLError, RecursionError) as error:
            problem = " ".join(str(error).split())
            mark = getattr(error, "problem_mark", None)
            span = Span(mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 1) if mark else None
            raise Uninspectable("SYS001", f"cannot read it: not valid YAML: {problem}", span) from error

    def pairs(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield key and value nodes of a mapping, nothing for anything else."""
        if node is not None and node.id == "mapping":
            yield from node.value

    def items(self, node: Any) -> list[Any]:
        """Return the nodes of a sequence; a scalar counts as a list of itself."""
        if node is None or node.id == "mapping":
            return []
        return list(node.value) if node.id == "sequence" else [node]

    def get(self, node: Any, *keys: str) -> Any:
        """Return the node at a path of keys, None where there is none."""
        for key in keys:
            node = next((value for name, value in self.pairs(node) if name.value == key), None)
        return node

    def value(self, node: Any, *keys: str) -> str:
        """Return the text of the scalar at a path of keys; empty where there is none."""
        found = self.get(node, *keys)
        return str(found.value) if found is not None and found.id == "scalar" else ""

    def strings(self, node: Any, *keys: str) -> dict[str, str]:
        """Return a mapping of scalars."""
        pairs = self.pairs(self.get(node, *keys))
        return {str(key.value): str(value.value) for key, value in pairs if value.id == "scalar"}

    def text(self, node: Any, *keys: str) -> Text | None:
        """Return the scalar at a path of keys with its places, None where there is none."""
        found = self.get(node, *keys)
        if found is None or found.id != "scalar":
            return None
        return Text(str(found.value), self._starts(found))

    def span(self, node: Any) -> Span:
        """Return where a node begins: its first line up to its end."""
        start, end = node.start_mark, node.end_mark
        if start.line != end.line:
            return Span(
                start.line + 1, start.column + 1, start.line + 1, len(self.lines[start.line].rstrip()) + 1
            )
        return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def item(self, node: Any) -> Item:
        """Return an entry of a block sequence, with the lines that delete it."""
        text = self.text(node)
        assert text is not None
        line = node.start_mark.line
        dash = self.lines[line][: node.start_mark.column]
        span = Span(
            line + 1, len(dash) - len(dash.lstrip()) + 1, node.end_mark.line + 1, node.end_mark.column + 1
        )
        return Item(text, own_lines(self.lines, span) if dash.strip() == "-" else None)

    def _starts(self, node: Any) -> tuple[tuple[int, int], ...]:
        line, column = node.start_mark.line, node.start_mark.column
        if node.style == "|":
            return tuple(self._block(node.value, line + 1))
        if node.style == ">":
            return tuple(self._folded(node.value, line + 1))
        return ((line + 1, column + 1 + (node.style in ("'", '"'))),)

    def _block(self, value: str, first: int) -> Iterator[tuple[int, int]]:
        """A literal block keeps its lines; only what they are indented by is gone."""
        for number, content in enumerate(value.split("\n"), first):
            line = self.lines[number] if number < len(self.lines) else ""
            yield number + 1, max(len(line.rstrip("\r")) - len(content), 0) + 1

    def _folded(self, value: str, first: int) -> Iterator[tuple[int, int]]:
        """A folded block has fewer lines than the file: each begins where its text is found."""
        number = first
        for content in value.split("\n"):
            while number < len(self.lines) - 1 and not self._begins(number, content):
                number += 1
            line = self.lines[min(number, len(self.lines) - 1)]
            yield number + 1, len(line) - len(line.lstrip()) + 1
            number += 1

    def _begins(self, number: int, content: str) -> bool:
        line = self.lines[number].strip()
        return bool(line) and content.lstrip().startswith(line)
