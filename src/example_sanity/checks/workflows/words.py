"""What a shell word can expand to, as far as the text says: variables with one value or several, quotes, defaults.

An expansion whose value is unknown stays as it is written, so what holds a ``$`` or a backtick is not known.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch.operand import skip_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST = 64  # alternatives of one word
_BLANK = "\x00"  # a space that separates words
_MEANS = regex(r"[\"'\\$`]")
_PLAIN = regex(r"[^\"'\\$`]+")
_SIMPLE = regex(r"\$([A-Za-z_]\w*)")
_BRACED = regex(r"\$\{([A-Za-z_]\w*)(\[[@*]\])?(?:(:?[-=])(.*))?\}", re.DOTALL)
_FOLDER = regex(r"dirname.*(?:BASH_SOURCE|\$0|\$\{0)", re.DOTALL)


def is_known(word: str) -> bool:
    """Whether nothing of an expanded word is left open."""
    return "$" not in word and "`" not in word


def expand(word: str, variables: Mapping[str, Sequence[str] | None], here: str) -> list[tuple[str, ...]]:
    """Return the word lists that a word as it is written can become. ``here`` is the folder of the script, for ``$0``."""
    if not _MEANS.search(word):
        return [(word,)]
    pieces = list(_pieces(word, variables, here))
    alternatives = islice(product(*pieces), MOST)
    return list(dict.fromkeys(_split("".join(parts)) for parts in alternatives))


def _split(text: str) -> tuple[str, ...]:
    return (
        tuple(text.split(_BLANK))
        if _BLANK not in text
        else tuple(part for part in text.split(_BLANK) if part)
    )


def _pieces(
    word: str, variables: Mapping[str, Sequence[str] | None], here: str, quoted: bool = False
) -> Iterator[Sequence[str]]:
    """Yield the alternatives of each part of a word."""
    index = 0
    while index < len(word):
        plain = _PLAIN.match(word, index)
        if plain:
            yield (plain[0],)
            index = plain.end()
            continue
        after = min(skip_unit(word, index, quoted), len(word))
        unit = word[index:after]
        if unit[0] == '"' and len(unit) > 1 and not quoted:
            yield from _pieces(unit[1:-1], variables, here, True)
        elif unit[0] == "'" and not quoted:
            yield (unit[1:-1],)
        elif unit[0] == "\\":
            yield (_escaped(unit, quoted),)
        elif unit == "$" and _SIMPLE.match(word, index):
            found = _SIMPLE.match(word, index)
            assert found is not None
            after = found.end()
            yield _values(found[1], found[0], variables, quoted)
        elif unit[0] in "$`":
            yield _expansion(unit, variables, here, quoted)
        else:
            yield (unit,)
        index = after


def _escaped(unit: str, quoted: bool) -> str:
    if unit[1:] == "\n":
        return ""
    return unit if quoted and unit[1:] not in '$`"\\' else unit[1:]


def _values(
    name: str, written: str, variables: Mapping[str, Sequence[str] | None], quoted: bool
) -> Sequence[str]:
    values = variables.get(name)
    if values is None:
        return (written,)
    return [value if quoted else _BLANK.join(value.split()) for value in values]


def _expansion(
    unit: str, variables: Mapping[str, Sequence[str] | None], here: str, quoted: bool
) -> Sequence[str]:
    """The values of ``${…}`` or of a command substitution; the text itself where they are unknown."""
    if unit.strip("`$() ") == "pwd" and variables.get("PWD") is not None:
        return variables["PWD"] or ()
    if _FOLDER.search(unit):
        return (f"{here}{'/..' * unit.count('/..')}",)
    found = _BRACED.fullmatch(unit)
    if not found:
        return (unit,)
    name, spread, operator, default = found.groups()
    if spread:
        values = variables.get(name + "[@]")
        return (unit,) if values is None else (_BLANK.join(("", *values, "")),)
    known = variables.get(name)
    if operator and known is None and name not in variables:
        parts = islice(product(*_pieces(default, variables, here, quoted)), MOST)
        return ["".join(part) for part in parts]
    return _values(name, unit, variables, quoted)
