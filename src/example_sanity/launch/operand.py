"""The operand of an expansion (``word`` in ``${NAME:-word}``): where it ends, and how to say it as an assignment.

Quoting follows the Bash reference manual, sections 3.1.2 (quoting) and 3.5.3 (shell parameter expansion).
"""

from __future__ import annotations

import re

from example_sanity.core.regex import regex

_CLOSERS = {"(": ")", "{": "}"}
_META = frozenset(" \t;&|<>(){#~")
_SPACE = frozenset(" \t\n")
# What is not simply passed over; looking for it is much faster than looking at every character.
_IN_DOUBLE = regex(r'["\\`$]')
_IN_BRACES = regex(r"[}'\"\\`$]")
_IN_PARENTHESES = regex(r"[()'\"\\`$]")


def close_of_expansion(text: str, start: int, quoted: bool) -> int | None:
    """Return the index of the ``}`` that ends the expansion whose operand starts at ``start``, or None.

    ``quoted`` says that the expansion stands inside double quotes, where a single quote is an ordinary character.
    """
    index = start
    while found := _IN_BRACES.search(text, index):
        index = found.start()
        if text[index] == "}":
            return index
        index = skip_unit(text, index, quoted)
    return None


def skip_unit(text: str, index: int, quoted: bool) -> int:
    """Return the index after the character, quoted string, substitution or expansion that starts at ``index``."""
    character = text[index]
    if character == "\\":
        return index + 2
    if character == "'" and not quoted:
        return _after(text, "'", index + 1)
    if character == '"':
        return _skip_double(text, index + 1)
    if character == "`":
        return _after_escaped(text, "`", index + 1)
    return _skip_dollar(text, index, quoted) if character == "$" else index + 1


def _skip_dollar(text: str, index: int, quoted: bool) -> int:
    following = text[index + 1 : index + 2]
    if following in ("(", "{"):
        return _skip_nested(text, index + 2, _CLOSERS[following], quoted)
    if following == "'" and not quoted:
        return _after_escaped(text, "'", index + 2)
    return index + 1


def _after(text: str, character: str, index: int) -> int:
    found = text.find(character, index)
    return len(text) if found < 0 else found + 1


def _after_escaped(text: str, closer: str, index: int) -> int:
    while index < len(text) and text[index] != closer:
        index += 2 if text[index] == "\\" else 1
    return index + 1


def _skip_double(text: str, index: int) -> int:
    while found := _IN_DOUBLE.search(text, index):
        index = found.start()
        if text[index] == '"':
            return index + 1
        index = skip_unit(text, index, True)
    return max(index, len(text)) + 1


def _skip_nested(text: str, index: int, closer: str, quoted: bool) -> int:
    inside = quoted and closer == "}"
    special = _IN_BRACES if closer == "}" else _IN_PARENTHESES
    depth = 1
    while found := special.search(text, index):
        index = found.start()
        character = text[index]
        if character == closer:
            depth -= 1
            if depth == 0:
                return index + 1
        elif character == "(":
            depth += 1
        index = index + 1 if character in "()" else skip_unit(text, index, inside)
    return len(text) + 1


def as_double_quoted(operand: str) -> str:
    """Rewrite an operand that stands in double quotes as text to put between double quotes.

    Inner double quotes group nothing there and go; ``\\}`` is a brace; all else keeps its meaning.
    """
    parts = []
    index = 0
    while index < len(operand):
        after = skip_unit(operand, index, True)
        unit = operand[index:after]
        if unit.startswith('"'):
            unit = unit[1:-1]
        elif unit == "\\}":
            unit = "}"
        else:
            unit = _modern(unit)
        parts.append(unit)
        index = after
    return "".join(parts)


def as_assigned(operand: str, split: bool) -> str:
    """Rewrite an operand that stands unquoted as the right-hand side of an assignment (or, ``split``, as array words).

    Characters that would end a word there, start a brace expansion or a comment are escaped; quotes stay.
    """
    keep = _SPACE if split else frozenset()
    parts = []
    index = 0
    while index < len(operand):
        after = skip_unit(operand, index, False)
        unit = operand[index:after]
        if unit == "\n" and not split:
            unit = "$'\\n'"
        elif unit.startswith("`"):
            unit = _modern(unit)
        elif unit in _META and unit not in keep and not (unit == "~" and index == 0):
            unit = "\\" + unit
        parts.append(unit)
        index = after
    return "".join(parts)


def _modern(unit: str) -> str:
    """Say a substitution in backticks with ``$( )``, which the sandbox reads right between quotes."""
    return f"$({unit[1:-1]})" if unit.startswith("`") and "\\" not in unit else unit


def has_quoting(operand: str) -> bool:
    """Whether an operand holds quotes, an escape or a command substitution in backticks."""
    return bool(re.search(r"[\"'\\`]", operand))
