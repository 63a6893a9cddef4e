"""Read a command line as argparse would: which word is which flag, which words are its values, what is left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.core.regex import regex
from example_sanity.schema.argparse.table import REST, Flag, FlagTable

if TYPE_CHECKING:
    from collections.abc import Sequence

# Python 3.14 takes -1e-5 for a number, older ones take it for a flag: the launcher may run on either.
_NEGATIVE = regex(r"-(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Use(msgspec.Struct, frozen=True):
    """One flag on a command line.

    ``word`` is the index of its word and ``values`` are those of its values; ``attached`` is the value that stands in the
    same word. ``written`` is the option string as it stands there, ``name`` the one that it means; ``flags`` are the
    definitions of that, none for a flag that the table does not know. ``matches`` are the names that an abbreviation may
    mean.
    """

    word: int
    written: str
    name: str
    flags: tuple[Flag, ...]
    values: tuple[int, ...] = ()
    attached: str | None = None
    matches: tuple[str, ...] = ()

    @property
    def abbreviated(self) -> bool:
        """Whether the flag was found by its beginning."""
        return bool(self.matches)

    @property
    def count(self) -> int:
        """How many values were given."""
        return len(self.values) + (self.attached is not None)


class Reading(msgspec.Struct):
    """A command line: its flags in order, and the words that belong to none."""

    uses: list[Use] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)


def read_words(words: Sequence[str], table: FlagTable) -> Reading:
    """Return how the words of a program's arguments are read."""
    return _Reader(words, table).read()


class _Reader:
    def __init__(self, words: Sequence[str], table: FlagTable) -> None:
        self._words = words
        self._table = table
        self._known = table.known
        if table.loose:
            self._known = {_loosened(name): flags for name, flags in self._known.items()}
        self._result = Reading()

    def read(self) -> Reading:
        index = 0
        while index < len(self._words):
            word = self._words[index]
            if word == "--":
                self._result.operands += range(index + 1, len(self._words))
                break
            use = self._use(index, word) if self._is_flag(word) else None
            if use is None:
                self._result.operands.append(index)
                index += 1
                continue
            self._result.uses.append(use)
            index += 1 + len(use.values)
        return self._result

    def _is_flag(self, word: str) -> bool:
        if word in self._known:
            return True
        written = len(word) > 1 and word.startswith("-") and not _NEGATIVE.fullmatch(word)
        return written and " " not in word.partition("=")[0]

    def _use(self, index: int, word: str) -> Use:
        written, equals, text = word.partition("=")
        attached = text if equals else None
        name = _loosened(written) if self._table.loose else written
        flags = self._known.get(name, ())
        matches: tuple[str, ...] = ()
        if not flags and not word.startswith("--") and word[:2] in self._known:
            flags, written, name, attached = self._known[word[:2]], word[:2], word[:2], word[2:].lstrip("=")
        elif not flags and self._table.abbreviations and word.startswith("--"):
            matches = tuple(sorted(known for known in self._known if known.startswith(name)))
            if matches:
                name = matches[0]
                flags = tuple(dict.fromkeys(flag for known in matches for flag in self._known[known]))
        values = () if attached is not None else self._values(index + 1, flags)
        return Use(index, written, name, flags, values, attached, matches)

    def _values(self, start: int, flags: tuple[Flag, ...]) -> tuple[int, ...]:
        """The words that the flag takes; one that is not known takes all up to the next flag."""
        if any(flag.nargs == REST for flag in flags):
            return tuple(range(start, len(self._words)))
        limits = [flag.most for flag in flags]
        known = [limit for limit in limits if limit is not None]
        most = max(known) if flags and len(known) == len(limits) else None
        end = start
        while end < len(self._words) and (most is None or end - start < most):
            if self._words[end] == "--" or self._is_flag(self._words[end]):
                break
            end += 1
        return tuple(range(start, end))


def _loosened(name: str) -> str:
    return name[:2] + name[2:].replace("_", "-")
