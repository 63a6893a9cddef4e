"""A configuration in files, with group options that only a shipped schema has laid over it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from example_sanity.schema.hydra.model import Composition, changed
from example_sanity.schema.hydra.shipped import NotShippedError
from example_sanity.schema.renames import Removed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.schema.hydra.shipped import ShippedTree
    from example_sanity.schema.hydra.trees import LiveTree


class CombinedTree:
    """The repository's own configuration on a search path of which a part is known from a shipped schema only.

    What an option of that part changes is what it changes in the shipped schema, whose framework may be a little older or
    newer than the repository.
    """

    at_hand = True

    def __init__(self, live: LiveTree, further: ShippedTree) -> None:
        """Lay ``further`` over ``live``."""
        self._live = live
        self._further = further
        self.label = f"{live.label} with {further.source}"

    @cached_property
    def options(self) -> dict[str, list[str]]:
        """The options of both."""
        found = {key: list(names) for key, names in self._live.options.items()}
        for key, names in self._further.options.items():
            found[key] = sorted({*found.get(key, ()), *names})
        return found

    @property
    def inputs(self) -> frozenset[str]:
        """The files of the live part; the schema is an input of who chose it."""
        return self._live.inputs

    @property
    def built(self) -> frozenset[str]:
        """The names that either program turns into objects."""
        return self._live.built | self._further.built

    @property
    def removed(self) -> dict[str, Removed]:
        """What the schema tells."""
        return self._further.removed

    def mentions(self, name: str) -> bool:
        """Return what the live part knows."""
        return self._live.mentions(name)

    def compose(self, choices: Sequence[str]) -> Composition:
        """Return the flat form: the choices that the files know, then the others. Raises ComposeError."""
        foreign = [word for word in choices if self._is_foreign(word)]
        result = self._live.compose([word for word in choices if word not in foreign])
        for word in foreign:
            delta = self._further.change(word, [other for other in choices if other != word])
            if delta is None:
                raise NotShippedError(f"the shipped schema does not know {word}")
            result = changed(result, delta)
        return result

    def _is_foreign(self, word: str) -> bool:
        group, _, option = word.lstrip("+~").partition("=")
        group = group.partition("@")[0]
        return option not in self._live.options.get(group, ()) and option in self._further.options.get(
            group, ()
        )
