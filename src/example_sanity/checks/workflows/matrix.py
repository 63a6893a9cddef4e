"""The combinations of a GitHub Actions matrix.

Source: GitHub Docs, "Running variations of jobs in a workflow" (include, exclude) and "Workflow syntax", jobs.<id>.strategy.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from example_sanity.checks.workflows.yamltree import Tree

MOST = 256  # GitHub's own limit for a run
Combination = dict[str, Any]


def combinations(tree: Tree, node: Any) -> tuple[Mapping[str, str | None], ...]:
    """Return the combinations of a matrix node, dotted names from ``matrix.`` on; one empty one where there is none."""
    if node is None:
        return ({},)
    if node.id != "mapping":
        return ({"matrix": None},)
    axes = {str(key.value): _values(tree, value) for key, value in tree.pairs(node)}
    include, exclude = axes.pop("include", []), axes.pop("exclude", [])
    open_axes = {name for name, values in axes.items() if values is None}
    known = {name: values for name, values in axes.items() if values is not None}
    base = [dict(zip(known, values, strict=True)) for values in islice(product(*known.values()), MOST)]
    kept = [item for item in base if not any(_fits(item, gone) for gone in exclude or ())] if known else []
    for extra in include or ():
        _include(kept, base if known else [], extra)
    unknown: dict[str, str | None] = {f"matrix.{name}": None for name in open_axes}
    # An axis that only a run knows may hold what it likes, and so may a list of such combinations.
    if include is None or exclude is None:
        unknown["matrix"] = None
    return tuple({**unknown, **dict(_flat("matrix", item))} for item in kept) or (unknown or {},)


def _values(tree: Tree, node: Any) -> list[Any] | None:
    """The values of an axis, None where an expression makes them."""
    if node.id == "scalar":
        return None if "${{" in node.value else [str(node.value)]
    return [_plain(tree, item) for item in tree.items(node)]


def _plain(tree: Tree, node: Any) -> Any:
    if node.id == "mapping":
        return {str(key.value): _plain(tree, value) for key, value in tree.pairs(node)}
    if node.id == "sequence":
        return [_plain(tree, item) for item in node.value]
    return str(node.value)


def _fits(combination: Combination, gone: Any) -> bool:
    return isinstance(gone, dict) and all(combination.get(name) == value for name, value in gone.items())


def _include(kept: list[Combination], base: list[Combination], extra: Any) -> None:
    """Add the values of ``extra`` to each combination of whose axes it changes none, else as one of its own."""
    if not isinstance(extra, dict):
        return
    axes = set(base[0]) if base else set()
    fitting = [item for item in kept if axes and all(item[name] == extra[name] for name in axes & set(extra))]
    for item in fitting:
        item.update(extra)
    if not fitting:
        kept.append(dict(extra))


def _flat(name: str, value: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{name}.{key}", item)
    elif isinstance(value, list):
        yield name, None
    else:
        yield name, None if "${{" in value else value
