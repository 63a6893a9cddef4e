"""Shell builtins whose words name variables or hold shell text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch import idioms
from example_sanity.launch.source import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_READ_VALUES = frozenset("ptnNdui")
_MAPFILE_VALUES = frozenset("dnOsuCc")
_LET_TARGET = regex(rb"([A-Za-z_][A-Za-z0-9_]*)\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)")


def assigned_by(words: Sequence[bytes]) -> Iterator[str]:
    """Yield the variables that ``read``, ``mapfile``, ``getopts``, ``printf -v``, ``let`` or ``wait -p`` set."""
    name, rest = words[0], list(words[1:])
    if name == b"read":
        yield from _names([*_option_values(rest, _READ_VALUES, "a"), *_operands(rest, _READ_VALUES | {"a"})])
    elif name in {b"mapfile", b"readarray"}:
        yield from _names(_operands(rest, _MAPFILE_VALUES)[:1] or [b"MAPFILE"])
    elif name == b"getopts":
        yield from _names([*rest[1:2], b"OPTARG", b"OPTIND"])
    elif name == b"printf":
        yield from _names(_option_values(rest[:2], frozenset("v"), "v"))
    elif name == b"let":
        yield from (decode(found[1]) for word in rest for found in _LET_TARGET.finditer(word))


def code_arguments(words: Sequence[bytes]) -> Iterator[tuple[int, re.Pattern[bytes]]]:
    """Yield the indexes of words that the shell reads again, and the pattern that finds names in them.

    ``let`` reads arithmetic. ``trap`` and ``eval`` read commands, also from single quotes; what stands in double
    quotes is an ordinary expansion already.
    """
    if words[0] == b"let":
        yield from ((index, idioms.ARITHMETIC_NAME) for index in range(1, len(words)))
    elif words[0] in {b"trap", b"eval"}:
        quoted = (index for index, word in enumerate(words) if index and word.startswith(b"'"))
        yield from ((index, idioms.DOLLAR_NAME) for index in quoted)


def _names(words: Sequence[bytes]) -> Iterator[str]:
    bare = (word.strip(b"\"'").split(b"[")[0] for word in words)
    return (decode(word) for word in bare if idioms.IDENTIFIER.fullmatch(word))


def _options(words: Sequence[bytes], valued: frozenset[str]) -> tuple[list[tuple[str, bytes | None]], int]:
    """Read short options as getopt does: the options with their values, and where the operands begin."""
    found: list[tuple[str, bytes | None]] = []
    index = 0
    while index < len(words) and words[index].startswith(b"-") and len(words[index]) > 1:
        word = words[index]
        index += 1
        if word == b"--":
            break
        for place, letter in enumerate(decode(word[1:]), start=2):
            if letter not in valued:
                found.append((letter, None))
                continue
            # As in getopt, a value stands in the same word or is the next one.
            attached = word[place:]
            index += not attached
            found.append((letter, attached or b"".join(words[index - 1 : index])))
            break
    return found, index


def _operands(words: Sequence[bytes], valued: frozenset[str]) -> list[bytes]:
    return list(words[_options(words, valued)[1] :])


def _option_values(words: Sequence[bytes], valued: frozenset[str], option: str) -> list[bytes]:
    return [value for letter, value in _options(words, valued | {option})[0] if letter == option and value]
