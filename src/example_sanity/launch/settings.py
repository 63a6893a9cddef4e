"""What an entry is told: Hydra overrides and flags, flattened to typed key → value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch import hydra_override
from example_sanity.launch.command import Origin
from example_sanity.launch.options import is_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.command import Entry

Value = object  # str, int, float, bool, None, list, dict or Sweep, as Hydra or the flag's text reads

_OVERRIDE = regex(r"[+~]{0,2}[A-Za-z_$][\w$.@/-]*(?:\[[^\]=]*\])?=|~[A-Za-z_][\w.@/-]*\Z")
_DOTTED_OVERRIDE = regex(r"(?:[+~]{1,2}[A-Za-z_$]|[A-Za-z_$][\w$-]*[.@/])[\w$.@/-]*(?:=|\Z)")
_INT = regex(r"[+-]?\d+")
_FLOAT = regex(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
# Hydra's own flags; those with a value have True.
_HYDRA_FLAGS = {
    **dict.fromkeys(("config-name", "cn", "config-path", "cp", "config-dir", "cd"), True),
    **dict.fromkeys(
        ("cfg", "c", "package", "p", "info", "i", "experimental-rerun", "shell-completion", "sc"), True
    ),
    **dict.fromkeys(("help", "h", "hydra-help", "version", "resolve", "run", "r", "multirun", "m"), False),
}


class Setting(msgspec.Struct, frozen=True):
    """One key and its value.

    ``key`` is written as in the word: dotted for Hydra (``actor@x.y`` with its package), the name without dashes for a
    flag, underscores or dashes as they stand. ``style`` is ``hydra`` or ``flag``. ``operation`` is ``set``, ``add`` (``+``), ``force`` (``++``), ``delete``
    (``~``), ``group`` (``actor@x.y=mlite_actor``, ``engine=mlite``) for Hydra and ``flag`` or ``switch`` for flags,
    whose key is the long name without dashes (``tensor-model-parallel-size``). ``raw`` is the text of the value.
    ``word`` is the index of the word in the command. ``stable`` is False when it depends on a placeholder.
    A key without dots that is given a plain word (``engine=mlite``) reads as a group, as only the configuration tree
    knows better. A flag with several values has a list, and its words joined by spaces as ``raw``. ``error`` says why
    Hydra would refuse the word; ``value`` is then the raw text.
    """

    key: str
    value: Value
    raw: str
    style: str
    operation: str
    word: int
    origin: Origin
    stable: bool = True
    error: str | None = None


class Settings(msgspec.Struct, frozen=True):
    """All settings of an entry in order; the last one of a key wins."""

    items: tuple[Setting, ...]

    def get(self, key: str) -> Setting | None:
        """Return the setting that wins for ``key``, or None."""
        return next((item for item in reversed(self.items) if item.key == key), None)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.items)


def settings(entry: Entry) -> Settings:
    """Flatten the arguments of an entry. Words that are neither a flag nor an override are left out.

    A program whose flags are all Hydra's own and that is given an override is a Hydra program: each of its other words is
    an override, well-formed or not. Any other program is read as argparse would, and a word with a dotted key and ``=``
    behind a flag's value counts as an override.
    """
    words = [entry.command.argv[index] for index in entry.arguments]
    return Settings(tuple(_Reader(entry, words).read()))


class _Reader:
    """The arguments of one entry, read from the left."""

    def __init__(self, entry: Entry, words: list[str]) -> None:
        self._entry = entry
        self._words = words
        self._hydra = _is_hydra(words)

    def read(self) -> Iterator[Setting]:
        index = 0
        only_operands = False
        while index < len(self._words):
            word = self._words[index]
            if word == "--" and not only_operands:
                only_operands = True
                index += 1
            elif is_option(word) and not only_operands:
                count = self._value_count(index)
                yield self._flag(index, count)
                index += 1 + count
            else:
                if self._hydra or _OVERRIDE.match(word):
                    yield self._override(index)
                index += 1

    def _value_count(self, index: int) -> int:
        """Return how many of the following words are the flag's values."""
        word = self._words[index]
        if "=" in word:
            return 0
        if self._hydra:
            return int(_HYDRA_FLAGS[word.lstrip("-").replace("_", "-")] and index + 1 < len(self._words))
        end = index + 1
        while end < len(self._words) and not is_option(self._words[end]):
            # The first word behind a flag is its value even if it looks like an override ("--set a.b=1").
            if end > index + 1 and _DOTTED_OVERRIDE.match(self._words[end]) and "=" in self._words[end]:
                break
            end += 1
        return end - index - 1

    def _flag(self, index: int, count: int) -> Setting:
        body = self._words[index].lstrip("-")
        key, equals, text = body.partition("=")
        values = [text] if equals else self._words[index + 1 : index + 1 + count]
        typed: list[Value] = [_typed(value) for value in values]
        value: Value = True if not values else typed[0] if len(typed) == 1 else typed
        operation = "flag" if values else "switch"
        return Setting(key, value, " ".join(values), "flag", operation, *self._place(index, 1 + count))

    def _override(self, index: int) -> Setting:
        found = hydra_override.parse(self._words[index])
        key = found.key if found.package is None else f"{found.key}@{found.package}"
        operation = found.operation
        if operation == "set" and found.error is None and _chooses(found):
            operation = "group"
        return Setting(key, found.value, found.raw, "hydra", operation, *self._place(index, 1), found.error)

    def _place(self, first: int, count: int) -> tuple[int, Origin, bool]:
        """Return the word's index in the command, its origin, and whether no placeholder touched its words."""
        command = self._entry.command
        words = self._entry.arguments[first : first + count]
        origin = command.origins[words[0]] if words[0] < len(command.origins) else command.site
        return words[0], origin, command.unstable.isdisjoint(words)


def _is_hydra(words: list[str]) -> bool:
    flags = [word for word in words if is_option(word) and word != "--"]
    names = (word.lstrip("-").partition("=")[0].replace("_", "-") for word in flags)
    # One flag that Hydra does not know means argparse, whatever else there is.
    if not all(name in _HYDRA_FLAGS for name in names):
        return False
    operands = [word for word in words if not is_option(word)]
    return any(_OVERRIDE.match(word) for word in operands)


def _chooses(found: hydra_override.Override) -> bool:
    """Whether an override may pick a member of a config group, as far as its text shows."""
    if found.package is not None or "/" in found.key:
        return True
    return (
        "." not in found.key
        and isinstance(found.value, str)
        and re.fullmatch(r"[A-Za-z_][\w/.-]*", found.raw) is not None
    )


def _typed(text: str) -> Value:
    """Read a flag's text: a number where it is one, the text otherwise."""
    if _INT.fullmatch(text) and len(text) < 1000:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
