"""Hydra's override grammar (1.3), read without Hydra: ``+a.b=[1,x]``, ``~k``, ``db@pkg=mysql``, ``lr=1,2``.

Source of the rules: hydra/grammar/OverrideLexer.g4 and OverrideParser.g4. Nothing here raises for a malformed word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch.hydra_functions import FUNCTIONS, OverrideError, Sweep

Value: TypeAlias = object
_Item = TypeVar("_Item")

_ID = r"[A-Za-z_][\w-]*"
_INT = r"(?:0|[1-9](?:_?[0-9])*)"
_POINT = rf"(?:{_INT}?\.[0-9](?:_?[0-9])*|{_INT}\.)"
_FLOAT = rf"[+-]?(?:(?:{_POINT}|{_INT})[eE][+-]?[0-9](?:_?[0-9])*|{_POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])"
_PART = rf"(?:[A-Za-z_$][\w$-]*|{_INT})"
_PACKAGE = rf"(?:{_PART}(?:\.{_PART})+|[A-Za-z_$][\w$-]*|)"
_KEY = regex(rf"(?:{_ID}(?:/{_ID})+|{_PACKAGE})(?:@{_PACKAGE})?", re.ASCII)
# Nearly every override of a launcher is a key and one scalar.
_SIMPLE = regex(
    rf"(?:(?P<null>[Nn][Uu][Ll][Ll])|(?P<true>[Tt][Rr][Uu][Ee])|(?P<false>[Ff][Aa][Ll][Ss][Ee])"
    rf"|(?P<int>[+-]?{_INT})|(?P<float>{_FLOAT})|(?P<text>{_ID}))",
    re.ASCII,
)
# The longest match wins, then the first in this list.
_TOKENS = tuple(
    (name, regex(pattern, re.ASCII | re.DOTALL))
    for name, pattern in (
        ("(", r"[ \t]*\([ \t]*"),
        (",", r"[ \t]*,[ \t]*"),
        (")", r"[ \t]*\)"),
        ("[", r"\[[ \t]*"),
        ("]", r"[ \t]*\]"),
        ("{", r"\{[ \t]*"),
        ("}", r"[ \t]*\}"),
        (":", r"[ \t]*:[ \t]*"),
        ("=", r"[ \t]*=[ \t]*"),
        ("float", _FLOAT),
        ("int", rf"[+-]?{_INT}"),
        ("bool", r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"),
        ("null", r"[Nn][Uu][Ll][Ll]"),
        ("char", r"[/\-\\+.$%*@?|]"),
        ("id", _ID),
        ("escape", r"(?:\\[\\()\[\]{}:=, \t])+"),
        ("space", r"[ \t]+"),
        ("quoted", r"\"(?:[^\\\"]|\\.)*\"|'(?:[^\\']|\\.)*'"),
        ("interpolation", r"\$\{[^}]+\}"),
    )
)
_KEY_PARTS = frozenset({"id", "null", "int", "float", "bool", "char", "escape", "space"})
_PRIMITIVE_PARTS = _KEY_PARTS | {"interpolation", ":"}
_ESCAPED_QUOTES = {quote: regex(rf"\\+{quote}") for quote in "'\""}
_MAX_DEPTH = 100
NO_EQUALS = "there is no '=' in it"


class Override(msgspec.Struct, frozen=True):
    """One override word. ``operation`` is set, add (``+``), force (``++``) or delete (``~``).

    ``key`` is written as in the word (``db``, ``a.b``, ``hydra/launcher``) and ``package`` is what follows ``@``.
    ``value`` is a str, int, float, bool, None, list, dict or Sweep; the raw text when ``error`` is set, which says in
    one sentence why Hydra would refuse the word.
    """

    operation: str
    key: str
    package: str | None
    value: Value
    raw: str
    error: str | None = None


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


@lru_cache(maxsize=4096)  # launchers of one framework set the same keys, mostly to the same values
def parse(word: str) -> Override:
    """Read an override word as Hydra would. Callers share the value: they do not change a list or dict in it."""
    operation, rest = _operation(word)
    name, equals, raw = rest.partition("=")
    key, at, package = name.partition("@")
    try:
        value = _read(operation, name, raw if equals else None, len(word) - len(raw))
    except OverrideError as problem:
        raw = raw if equals else word
        return Override(operation, key, package if at else None, raw, raw, str(problem))
    return Override(operation, key, package if at else None, value, raw)


def _read(operation: str, name: str, raw: str | None, column: int) -> Value:
    if raw is None and operation != "delete":
        raise OverrideError(NO_EQUALS)
    if not _KEY.fullmatch(name):
        raise OverrideError(f"{name!r} is no key: expected names joined by dots, or group/name@package")
    if raw is None:
        return None
    text = raw.lstrip(" \t")
    return _value(text, column + len(raw) - len(text))


def _operation(word: str) -> tuple[str, str]:
    for prefix, operation in (("++", "force"), ("+", "add"), ("~", "delete")):
        if word.startswith(prefix):
            return operation, word[len(prefix) :]
    return "set", word


def _value(text: str, column: int) -> Value:
    if not text:
        return ""
    simple = _SIMPLE.fullmatch(text)
    if simple:
        return _scalar(simple.lastgroup or "text", text)
    return _Parser(_tokens(text, column)).value()


def _scalar(kind: str, text: str) -> Value:
    # Python refuses to convert very long numbers, and nobody means one.
    if kind == "int" and len(text) < 1000:
        return int(text)
    if kind == "float":
        return float(text)
    constants: dict[str, Value] = {"null": None, "true": True, "false": False}
    return constants.get(kind, text)


def _tokens(text: str, column: int) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while place < len(text):
        matches = ((name, pattern.match(text, place)) for name, pattern in _TOKENS)
        candidates = [(name, match.end()) for name, match in matches if match]
        if not candidates:
            raise OverrideError(
                f"character {text[place]!r} (column {column + place + 1}) must be quoted or escaped"
            )
        kind, end = max(candidates, key=_end)
        found.append(_Token(kind, text[place:end], column + place + 1))
        place = end
    return found


def _end(candidate: tuple[str, int]) -> int:
    return candidate[1]


class _Parser:
    """Recursive descent over the tokens of one value."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def value(self) -> Value:
        elements = [self._element()]
        while self._take(","):
            elements.append(self._element())
        if self._next < len(self._tokens):
            raise self._unexpected()
        return elements[0] if len(elements) == 1 else Sweep("choice", tuple(elements))

    def _peek(self, ahead: int = 0) -> str | None:
        place = self._next + ahead
        return self._tokens[place].kind if place < len(self._tokens) else None

    def _take(self, kind: str) -> bool:
        taken = self._peek() == kind
        self._next += taken
        return taken

    def _expect(self, kind: str) -> None:
        if not self._take(kind):
            raise self._unexpected(f", expected {kind!r}")

    def _unexpected(self, more: str = "") -> OverrideError:
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            return OverrideError(
                f"unexpected {token.text.strip() or token.text!r} (column {token.column}){more}"
            )
        return OverrideError(f"the value ends too early{more}")

    def _element(self) -> Value:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise OverrideError(f"nested more than {_MAX_DEPTH} deep")
        try:
            return self._container()
        finally:
            self._depth -= 1

    def _container(self) -> Value:
        if self._take("["):
            return self._until("]", self._element)
        if self._take("{"):
            return dict(self._until("}", self._pair))
        if self._peek() == "quoted":
            self._next += 1
            return _unquoted(self._tokens[self._next - 1].text)
        if self._peek() == "id" and self._peek(1) == "(":
            return self._function()
        return self._primitive(_PRIMITIVE_PARTS)

    def _until(self, closing: str, item: Callable[[], _Item]) -> list[_Item]:
        items: list[_Item] = []
        if self._take(closing):
            return items
        items.append(item())
        while self._take(","):
            items.append(item())
        self._expect(closing)
        return items

    def _pair(self) -> tuple[Value, Value]:
        key = self._primitive(_KEY_PARTS)
        self._expect(":")
        return key, self._element()

    def _argument(self) -> tuple[str | None, Value]:
        name = None
        if self._peek() == "id" and self._peek(1) == "=":
            name = self._tokens[self._next].text
            self._next += 2
        return name, self._element()

    def _function(self) -> Value:
        name = self._tokens[self._next].text
        self._next += 2
        arguments = self._until(")", self._argument)
        positional = [value for key, value in arguments if key is None]
        if any(key is not None for key, _ in arguments[: len(positional)]):
            raise OverrideError(f"{name}(): a positional argument follows a named one")
        if name not in FUNCTIONS:
            raise OverrideError(f"unknown function {name!r}; there are {', '.join(sorted(FUNCTIONS))}")
        try:
            return FUNCTIONS[name](*positional, **{key: value for key, value in arguments if key is not None})
        except (TypeError, ValueError, OverflowError) as problem:
            raise OverrideError(f"{name}(): {problem}") from problem

    def _primitive(self, parts: frozenset[str]) -> Value:
        first = self._next
        while self._peek() in parts:
            self._next += 1
        tokens = self._tokens[first : self._next]
        # Blanks count between the parts of a text, not around it.
        if tokens and tokens[0].kind == "space":
            tokens = tokens[1:]
        if tokens and tokens[-1].kind == "space":
            tokens = tokens[:-1]
        if not tokens:
            raise self._unexpected()
        if len(tokens) == 1 and tokens[0].kind != "escape":
            return _token_value(tokens[0])
        return "".join(token.text[1::2] if token.kind == "escape" else token.text for token in tokens)


def _token_value(token: _Token) -> Value:
    if token.kind == "bool":
        return token.text.lower() == "true"
    return _scalar(token.kind, token.text)


def _unquoted(text: str) -> str:
    """Take off the quotes; backslashes mean something in front of a quote only, the closing one included."""
    body = _ESCAPED_QUOTES[text[0]].sub(_every_second, text[1:])
    return body if text[-2] == "\\" else body[:-1]


def _every_second(found: re.Match[str]) -> str:
    return found[0][1::2]
