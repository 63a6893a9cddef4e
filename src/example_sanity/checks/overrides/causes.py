"""The one group choice that explains why several overrides set what does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.overrides.state import State
from example_sanity.schema.hydra.model import ComposeError, Composition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.launch.settings import Setting
    from example_sanity.schema.hydra.trees import Tree


class Cause(NamedTuple):
    """A group choice, the overrides that it makes right, and how many choices change with it.

    ``misplaced`` are the overrides that were meant to make a choice, but stand below a node.
    """

    word: str
    explained: list[Setting]
    follow: int
    composition: Composition
    misplaced: list[Setting]


def find(
    tree: Tree, composition: Composition, chosen: Sequence[str], plain: Sequence[Setting]
) -> Cause | None:
    """Return the choice that explains most of what does not exist; of several the one that most other choices follow.

    ``chosen`` are the words of the choices that are made already, ``plain`` the overrides that are none.
    """
    state = State(composition)
    strange = [item for item in plain if item.operation == "set" and state.missing_node(item.key)]
    misplaced = [item for item in plain if _is_misplaced(item, tree, composition)]
    found: list[Cause] = []
    for word in _candidates(tree, composition, strange, misplaced):
        try:
            other = tree.compose([*chosen, word])
        except ComposeError:
            continue
        there = State(other)
        explained = [item for item in strange if there.missing_node(item.key) is None]
        follow = sum(composition.groups.get(key) != name for key, name in other.groups.items())
        if explained:
            found.append(Cause(word, explained, follow, other, misplaced))
    return max(found, key=_strength, default=None)


def _strength(item: Cause) -> tuple[int, int]:
    return len(item.explained), item.follow


def _is_misplaced(item: Setting, tree: Tree, composition: Composition) -> bool:
    """Whether a plain key ends in the name of a group of the defaults list and names one of its options."""
    leaf = item.key.rpartition(".")[2]
    return (
        "." in item.key
        and item.key not in composition.keys
        and leaf in composition.groups
        and item.value in tree.options.get(leaf, ())
    )


def _candidates(
    tree: Tree, composition: Composition, strange: Sequence[Setting], misplaced: Sequence[Setting]
) -> list[str]:
    if not strange and not misplaced:
        return []
    found = [f"{item.key.rpartition('.')[2]}={item.raw}" for item in misplaced]
    segments = {part for item in strange for part in item.key.split(".")}
    for group in sorted(composition.groups, key=lambda key: ("@" in key, key)):
        if not group.startswith("hydra/") and ".." not in group:
            found += [
                f"{group}={option}"
                for option in tree.options.get(group.partition("@")[0], ())
                if option != composition.groups[group] and segments & {option, *option.split("_")}
            ]
    return list(dict.fromkeys(found))[:8]
