"""Tools in place of the sandbox's own.

``expr`` as of GNU coreutils (the sandbox's stops after the second operand), and a ``shuf`` that gives the same in every
run, so that a port that is drawn by lot does not change from report to report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
}


class ExpressionError(Exception):
    """What ``expr`` prints before it exits with 2."""


def expr(words: Sequence[str]) -> str:
    """Return what ``expr WORDS`` prints. Raises ExpressionError where it would exit with 2."""
    parser = _Expression([word for place, word in enumerate(words) if place or word != "--"])
    result = parser.either()
    if parser.rest:
        raise ExpressionError(f"syntax error: unexpected argument '{parser.rest[0]}'")
    return result


def is_null(value: str) -> bool:
    """Whether ``expr`` exits with 1 for a result: empty or zero."""
    return value == "" or (_is_number(value) and int(value) == 0)


class _Expression:
    """The grammar of expr(1), one method for each precedence, all left-associative."""

    def __init__(self, words: Sequence[str]) -> None:
        self.rest = list(words)

    def _take(self, *operators: str) -> str | None:
        return self.rest.pop(0) if self.rest and self.rest[0] in operators else None

    def either(self) -> str:
        left = self._both()
        while self._take("|"):
            right = self._both()
            left = left if not is_null(left) else (right if not is_null(right) else "0")
        return left

    def _both(self) -> str:
        left = self._comparison()
        while self._take("&"):
            right = self._comparison()
            left = "0" if is_null(left) or is_null(right) else left
        return left

    def _comparison(self) -> str:
        left = self._sum()
        while operator := self._take(*_COMPARE):
            right = self._sum()
            numbers = _is_number(left) and _is_number(right)
            pair: tuple[object, object] = (int(left), int(right)) if numbers else (left, right)
            left = str(int(_COMPARE[operator](*pair)))
        return left

    def _sum(self) -> str:
        left = self._product()
        while operator := self._take("+", "-"):
            right = _number(self._product())
            left = str(_number(left) + (right if operator == "+" else -right))
        return left

    def _product(self) -> str:
        left = self._match()
        while operator := self._take("*", "/", "%"):
            left = str(_multiplied(_number(left), operator, _number(self._match())))
        return left

    def _match(self) -> str:
        left = self._word()
        while self._take(":"):
            left = _matched(left, self._word())
        return left

    def _word(self) -> str:
        if not self.rest:
            raise ExpressionError("syntax error: missing argument")
        word = self.rest.pop(0)
        if word == "(":
            inner = self.either()
            if self._take(")") is None:
                raise ExpressionError("syntax error: expecting ')'")
            return inner
        if word == "+" and self.rest:
            return self.rest.pop(0)
        return self._function(word) if self.rest else word

    def _function(self, word: str) -> str:
        if word == "length":
            return str(len(self._word()))
        if word == "match":
            return _matched(self._word(), self._word())
        if word == "index":
            text, characters = self._word(), self._word()
            return str(next((at for at, c in enumerate(text, 1) if c in characters), 0))
        if word == "substr":
            text, start, length = self._word(), self._word(), self._word()
            valid = _is_number(start) and _is_number(length) and int(start) > 0 and int(length) > 0
            return text[int(start) - 1 : int(start) - 1 + int(length)] if valid else ""
        return word


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,30}", text) is not None


def _number(text: str) -> int:
    if not _is_number(text):
        raise ExpressionError("non-integer argument")
    return int(text)


def _multiplied(left: int, operator: str, right: int) -> int:
    if operator == "*":
        return left * right
    if right == 0:
        raise ExpressionError("division by zero")
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)  # C cuts towards zero
    return quotient if operator == "/" else left - quotient * right


def _matched(text: str, pattern: str) -> str:
    try:
        found = re.match(_from_basic(pattern), text)
    except re.error as error:
        raise ExpressionError("invalid regular expression") from error
    groups = r"\(" in pattern
    if found is None:
        return "" if groups else "0"
    return (found[1] or "") if groups else str(found.end())


def _from_basic(pattern: str) -> str:
    """Translate a POSIX basic regular expression: there a backslash makes an operator of ``( ) { } + ? |``."""

    def swap(found: re.Match[str]) -> str:
        text = found.group()
        if text[0] == "\\" and text[1] in "(){}+?|":
            return text[1]
        return "\\" + text if text in "(){}+?|" else text

    return re.sub(r"\\.|[(){}+?|]", swap, pattern)


def shuf(words: Sequence[str], lines: Sequence[str], backwards: bool) -> list[str]:
    """Return the lines that ``shuf WORDS`` prints, in the order in which they come in, or ``backwards``.

    ``lines`` are those of the input. Options: -i LOW-HIGH, -e WORD ..., -n COUNT, -r.
    """
    text = " ".join(words)
    bounds = re.search(r"(?:-i|--input-range=)\s*(\d{1,9})-(\d{1,9})", text)
    count = re.search(r"(?:-n|--head-count=)\s*(\d+)", text)
    found: Sequence[str] = lines
    if bounds:
        ends = (int(bounds[1]), int(bounds[2]))
        found = [str(number) for number in _some(*ends, backwards)]
    elif {"-e", "--echo"} & {*words}:
        found = [
            word for at, word in enumerate(words) if word[:1] != "-" and (not at or words[at - 1] != "-n")
        ]
    chosen = list(reversed(found)) if backwards and not bounds else list(found)
    return chosen[: int(count[1])] if count else chosen


def _some(low: int, high: int, backwards: bool) -> range:
    """At most 10,000 numbers of a range, from one of its ends."""
    last = min(high, low + 9_999)
    return range(high, max(low, high - 9_999) - 1, -1) if backwards else range(low, last + 1)
