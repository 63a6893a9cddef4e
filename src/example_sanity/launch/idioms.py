"""Launcher idioms that are easier to read off the text than off the tree: defaults, emptiness tests, comparisons."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.core.regex import regex
from example_sanity.launch.source import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = rb"[A-Za-z_][A-Za-z0-9_]*"
_DEFAULT = regex(rb'"?\$\{(' + _NAME + rb'|[0-9]+)(:?[-=?+])(.*)\}"?', re.DOTALL)
IDENTIFIER = regex(_NAME)
# In arithmetic, names stand bare or behind "$"; 16#ff and 0x1f hold none, and "a = …" sets one.
ARITHMETIC_NAME = regex(rb"\$\{?(" + _NAME + rb"|[0-9]+)|(?<![\w#$])(" + _NAME + rb")\b(?!\s*=[^=])")
DOLLAR_NAME = regex(rb"(?<!\\)\$\{?[#!]?(" + _NAME + rb"|[0-9])")

_VARIABLE = (
    rb'(?P<quote>"?)\$(?:\{(?P<braced>'
    + _NAME
    + rb")(?:[,^]{1,2}|:?[-](?P<default>[^{}$`]*))?\}|(?P<bare>"
    + _NAME
    + rb"))(?P=quote)"
)
_SUBJECT = regex(_VARIABLE)
_COMPARISON = regex(
    rb"(?<![\w\"'}$])"
    + _VARIABLE
    + rb"\s+(?:==|=|!=)\s+(?P<word>\"[^\"$`*?\[\\]*\"|'[^'*?\[]*'|[\w./:@%+,-]+)(?=[\s;)\]]|\Z)"
)
_EMPTY = rb"-z\s+\"?\$\{?(%s)(?::?[-+][^{}\"]*)?\}?\"?|!\s+-v\s+(%s)|\"?\$\{?(%s)(?::?-)?\}?\"?\s+==?\s+(?:\"\"|'')|\"?x\$\{?(%s)\}?\"?\s+==?\s+\"?x\"?"
_SET = rb"-n\s+\"?\$\{?(%s)(?::?[-+][^{}\"]*)?\}?\"?|(?<!command\s)-v\s+(%s)|\"?\$\{?(%s)(?::?-)?\}?\"?\s+!=\s+(?:\"\"|'')"
_EMPTY_TEST = regex(_EMPTY.replace(b"%s", _NAME))
_SET_TEST = regex(_SET.replace(b"%s", _NAME))
_BRACKETS = regex(rb"(?:(?:\[\[?|test)\s+)?(.*?)(?:\s+\]\]?)?", re.DOTALL)


class Default(NamedTuple):
    """``${name operator word}``: the parts of an expansion with a default."""

    name: str
    operator: str
    word: str


class Subject(NamedTuple):
    """A word that is one variable, and the default that stands in it."""

    name: str
    default: str | None


class Comparison(NamedTuple):
    """``$name = value``, and where it stands in the text."""

    subject: Subject
    value: str
    start: int
    end: int


def default_of(text: bytes) -> Default | None:
    """Split an expansion with a default; None where the text is something else."""
    found = _DEFAULT.fullmatch(text)
    return Default(decode(found[1]), decode(found[2]), unquote(decode(found[3]))) if found else None


def unquote(text: str) -> str:
    """Take off one pair of quotes that spans the whole text."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


def subject_of(text: bytes) -> Subject | None:
    """Return the variable that a word consists of, ``"${X:-default}"`` and ``${X,,}`` included."""
    found = _SUBJECT.fullmatch(text)
    return _subject(found) if found else None


def _subject(found: re.Match[bytes]) -> Subject:
    default = found["default"]
    return Subject(
        decode(found["braced"] or found["bare"]), None if default is None else unquote(decode(default))
    )


def comparisons(test: bytes) -> Iterator[Comparison]:
    """Yield the comparisons of a variable with a literal in ``[ … ]``, ``[[ … ]]`` or ``test``; patterns are left out."""
    for found in _COMPARISON.finditer(test):
        value = unquote(decode(found["word"]))
        if value:
            yield Comparison(_subject(found), value, found.start(), found.end())


def empty_names(condition: bytes) -> frozenset[str]:
    """Return the variables that are empty or unset when the condition holds."""
    return _all_of(condition, b"&&", b"||", _EMPTY_TEST)


def empty_names_otherwise(condition: bytes) -> frozenset[str]:
    """Return the variables that are empty or unset when the condition does not hold."""
    return _all_of(condition, b"||", b"&&", _SET_TEST)


def _all_of(condition: bytes, joint: bytes, other: bytes, test: re.Pattern[bytes]) -> frozenset[str]:
    # With both "&&" and "||" nothing is certain.
    if other in condition:
        return frozenset()
    names = set()
    for part in condition.split(joint):
        bracketed = _BRACKETS.fullmatch(part.strip())
        found = bracketed and test.fullmatch(bracketed[1].strip())
        if found:
            names.add(decode(next(group for group in found.groups() if group)))
    return frozenset(names)


def demanded(condition: bytes) -> frozenset[str]:
    """Return the variables that must have a value for a guard's condition to fail (``! { … }`` negates it)."""
    negated = condition.startswith(b"! {")
    pattern = _SET_TEST if negated else _EMPTY_TEST
    found = pattern.finditer(condition)
    return frozenset(decode(next(group for group in match.groups() if group)) for match in found)


def label(pattern: bytes) -> str | None:
    """Return what a ``case`` pattern matches when it is one word; None for globs and expansions."""
    text = decode(pattern)
    bare = unquote(text)
    if any(char in bare for char in "$`") or (bare == text and any(char in text for char in "*?[\"'\\")):
        return None
    return bare or None
