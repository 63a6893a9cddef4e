"""Ignore entries: the lines of any list that leave files out, and the findings that they suppress."""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Span
from example_sanity.core.patterns import Syntax, literal, predicate, samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Effect", "Entry", "Syntax", "reason_of"]


class Effect(str, enum.Enum):
    """What an entry does to the files that it names."""

    SUPPRESSES = "suppresses"  # findings of ``rules`` do not count there
    LEAVES_OUT = "leaves out"  # a tool does not look at them, or not for some of its rules
    SELECTS = "selects"  # a tool looks at nothing else
    ASSIGNS = "assigns"  # they get an owner; the last entry that names a file wins


class Entry(msgspec.Struct, frozen=True):
    """One line of an ignore list.

    ``list_name`` is what people call the list ("per-file-ignore", "DEFAULT_IGNORE_FILES"); ``path`` and ``span`` are
    where the entry is written. ``rules`` are the codes whose findings it suppresses in the files that it names; empty
    for lists that belong to other tools. ``wants_reason`` says that the list wants one.

    ``bases`` are the folders that the pattern is relative to; it names what it names in any of them. ``expression`` is
    the whole regular expression where ``pattern`` is one alternative of it. Entries of a file that belong together
    have the same ``group``. ``values`` is what the entry sets for its files (the codes of another tool), so that one
    entry makes another superfluous only when it sets as much. ``removal`` is the text to take away to delete the entry,
    where that is certain.
    """

    pattern: str
    syntax: Syntax
    list_name: str
    path: str
    span: Span = Span()
    rules: frozenset[str] = frozenset()
    reason: str = ""
    wants_reason: bool = False
    effect: Effect = Effect.LEAVES_OUT
    bases: tuple[str, ...] = ("",)
    expression: str = ""
    group: str = ""
    values: frozenset[str] = frozenset()
    removal: Span | None = None

    @property
    def whole(self) -> str:
        """The expression that is matched."""
        return self.expression or self.pattern

    @property
    def is_negated(self) -> bool:
        """Whether the entry takes back what another one named."""
        return self.pattern.startswith("!") and not self.syntax.is_regex

    def match(self, files: Iterable[str]) -> list[str]:
        """Return the files that the entry names, of a negated one what follows the ``!``. Raises re.error."""
        return list(_matched(self, tuple(files)))

    def names(self, path: str) -> bool:
        """Whether the entry names a file. Raises re.error."""
        match = predicate(self.whole, self.syntax)
        prefixes = (base and base + "/" for base in self.bases)
        return any(path.startswith(prefix) and match(path[len(prefix) :]) for prefix in prefixes)

    def covers(self, other: Entry, files: Sequence[str]) -> bool:
        """Whether this entry names all that ``other`` does, today and whatever files may come. Raises re.error.

        That two patterns happen to agree on the present ``files`` is not enough.
        """
        if other.rules - self.rules or not _sets_as_much(self.values, other.values):
            return False
        if self.pattern == other.pattern and self.expression == other.expression:
            return True
        # "*.md" happens to name only files below docs/ today; invented files tell that docs/ does not cover it.
        here = other.match(files)
        invented = other.invented(here)
        match = predicate(self.whole, self.syntax)
        return bool(here or invented) and all(map(match, invented)) and all(map(self.names, here))

    def invented(self, here: Sequence[str]) -> list[str]:
        """Return files that the entry would name if they were there, given those that are.

        A pattern that is the path of a file names nothing else; that of a folder names files in it.
        """
        named = literal(self.whole, self.syntax)
        if named is None:
            return list(samples(self.whole, self.syntax))
        if named in here:
            return []
        is_folder = any(f"/{named}/" in f"/{path}" for path in here)
        return [
            path for path in samples(self.whole, self.syntax) if not is_folder or f"/{named}/" in f"/{path}"
        ]


@lru_cache(maxsize=4096)
def _matched(entry: Entry, files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(entry.names, files))


def _sets_as_much(values: frozenset[str], others: frozenset[str]) -> bool:
    """Whether each of ``others``, or a prefix of it, is among ``values`` (ruff: D stands for D100)."""
    return all("ALL" in values or any(item.startswith(value) for value in values) for item in others)


def reason_of(text: str) -> str:
    """Return what a text says as a reason: without directives to tools, and empty when it only promises one."""
    words = re.sub(r"\b(noqa|fmt:|type:\s*ignore|pylint:|pragma:|yapf:|isort:)\S*.*", "", text).strip(
        " #\t-.:"
    )
    return (
        ""
        if words.lower() in ("", "todo", "fixme", "tbd", "xxx", "none", "n/a", "reason", "ignore")
        else words
    )
