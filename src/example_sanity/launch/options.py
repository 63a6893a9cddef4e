"""Read the options in front of a program, by the launcher's grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.launch.launchers import Grammar

_NEGATIVE = regex(r"-(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Options(msgspec.Struct, frozen=True):
    """Options by their long names (underscores, switches with an empty text), and the index of the first operand."""

    values: dict[str, str]
    end: int


def is_option(word: str) -> bool:
    """Whether a word is written as an option: a dash, and no negative number."""
    return len(word) > 1 and word.startswith("-") and not _NEGATIVE.fullmatch(word)


def read_options(words: Sequence[str], grammar: Grammar, stop_at: tuple[str, ...] = ()) -> Options:
    """Read options up to the first operand; ``--`` ends them and is stepped over, a word of ``stop_at`` is not."""
    values: dict[str, str] = {}
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] not in ("-", *stop_at):
        word = words[index]
        index += 1
        if word == "--":
            break
        name, given = _split(word, grammar)
        if given is None:
            count = _arity(name, grammar, words[index : index + 1])
            given = " ".join(words[index : index + count])
            index += count
        values[name] = given
    return Options(values, min(index, len(words)))


def _split(word: str, grammar: Grammar) -> tuple[str, str | None]:
    """Split an option word into its long name and the value that it carries, None where the value would follow."""
    body, equals, value = word.lstrip("-").partition("=")
    name = body.replace("-", "_")
    if word.startswith("--") or (grammar.single_dash_long and len(body) > 1):
        return _full_name(name, grammar), value if equals else None
    long_name = grammar.short.get(body)
    if long_name is None and len(word) > 2 and grammar.bundled:
        long_name = grammar.short.get(word[1], word[1])
        if not _takes_value(long_name, grammar):
            return long_name, ""
        return long_name, word[2:].removeprefix("=")
    return long_name or body, value if equals else None


def _full_name(name: str, grammar: Grammar) -> str:
    if not grammar.abbreviates:
        return name
    known = sorted(grammar.values | grammar.switches)
    matches = [item for item in known if item.startswith(name)]
    return matches[0] if name not in known and len(matches) == 1 else name


def _takes_value(name: str, grammar: Grammar) -> bool:
    if name in grammar.values or name in grammar.arity:
        return True
    return grammar.unknown_takes_value and name not in grammar.switches


def _arity(name: str, grammar: Grammar, following: Sequence[str]) -> int:
    if not _takes_value(name, grammar):
        return 0
    # An unknown option in front of another option was a switch.
    if name not in grammar.values and name not in grammar.arity and following and is_option(following[0]):
        return 0
    return grammar.arity.get(name, 1)
