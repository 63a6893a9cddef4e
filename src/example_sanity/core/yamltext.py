"""Loads YAML of others: aliases that multiply, or that contain themselves, make a file unreadable instead of endless."""

from __future__ import annotations

from typing import Any

import yaml

# Far above what a configuration holds; nine aliases of nine, eight times over, are forty millions.
_MOST_NODES = 500_000


class Unbounded(yaml.YAMLError):
    """A document whose aliases stand for more than anybody can read."""


def load(text: str) -> Any:
    """Return the data of a document. Raises yaml.YAMLError, and ValueError for a value that is none (a 13th month)."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = single_node(loader, text)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def single_node(loader: Any, text: str) -> yaml.Node | None:
    """Return the tree of the only document of a loader, None for an empty one. Raises yaml.YAMLError."""
    try:
        node: yaml.Node | None = loader.get_single_node()
    except RecursionError as error:
        raise Unbounded("nested too deep") from error
    if node is not None and "*" in text:
        _refuse_unbounded(node)
    return node


def _refuse_unbounded(root: yaml.Node) -> None:
    waiting, seen = [root], 0
    while waiting:
        node = waiting.pop()
        seen += 1
        if seen + len(waiting) > _MOST_NODES:
            raise Unbounded("the aliases stand for more than can be read")
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
