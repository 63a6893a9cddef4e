"""The formulas of the backends: integer arithmetic as the documentation writes it, ``cp > 1 => seq % (2·cp) = 0``.

A formula is the one place where a constraint is written down: it is evaluated, shown, and searched for the symbols
that it needs. Known are whole numbers, symbols, ``+ - · // %``, comparisons, ``and or not``, ``a if b else c``,
``a => b`` and the functions lcm, gcd, min, max and ceil (``ceil(a, b)`` is a / b rounded up).
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property

from example_sanity.core.regex import regex

Values = Mapping[str, int]
_Step = Callable[[Values], int]

_FUNCTIONS: Mapping[object, Callable[..., int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    "lcm": math.lcm,
    "gcd": math.gcd,
    "min": min,
    "max": max,
    "ceil": lambda total, size: -(-total // size),
}
_KEYWORDS = {"and", "or", "not", "if", "else", "lcm", "gcd", "min", "max", "ceil"}
_BRACES = regex(r"\{([^}]*)\}")
_NAME = regex(r"[a-z][a-z0-9_]*")


class Formula:
    """A formula over symbols. It is compiled when first evaluated: most are never needed in a run."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Only the first arrow splits: a chain of implications would be hard to read, and none is needed.
        self.condition, arrow, claim = text.partition(" => ")
        self.claim = claim if arrow else text
        self.condition = self.condition if arrow else ""

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that occur, in the order of the text, those of the claim first."""
        names = _NAME.findall(f"{self.claim} {self.condition}")
        return tuple(dict.fromkeys(name for name in names if name not in _KEYWORDS))

    @cached_property
    def _steps(self) -> tuple[_Step, _Step]:
        return _compile(_parse(self.condition or "1")), _compile(_parse(self.claim))

    def value(self, values: Values) -> int:
        """Return the value, 1 or 0 for a claim; a false condition makes it 1.

        Raises ValueError when the text is no formula, KeyError for a symbol that is not in ``values`` and
        ZeroDivisionError where it divides by 0.
        """
        condition, claim = self._steps
        return int(claim(values)) if condition(values) else 1

    def shown(self, values: Values) -> str:
        """Return the text with the numbers: ``2·cp3 = 6``, and ``seq = 8`` for a symbol alone."""
        total = self.value(values)
        if _NAME.fullmatch(self.text):
            return f"{self.text} = {total}"
        text = _NAME.sub(lambda found: _numbered(found[0], values), self.text)
        return text if text == str(total) else f"{text} = {total}"


@cache
def formula(text: str) -> Formula:
    """Return the formula of a text, made once."""
    return Formula(text)


def fill(template: str, values: Values) -> str:
    """Fill the ``{formulas}`` of a message: ``{mini·n} samples`` becomes ``512 samples``."""
    return _BRACES.sub(lambda found: str(formula(found[1]).value(values)), template)


def mentioned(template: str) -> tuple[str, ...]:
    """Return the symbols that the ``{formulas}`` of a message need."""
    return tuple(symbol for text in _BRACES.findall(template) for symbol in formula(text).symbols)


def _numbered(name: str, values: Values) -> str:
    return name if name in _KEYWORDS else f"{name}{values[name]}"


def _parse(text: str) -> ast.expr:
    plain = re.sub(r"(?<![<>!=])=(?!=)", "==", text.replace("·", "*"))
    try:
        return ast.parse(plain.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is no formula") from error


def _compile(node: ast.expr) -> _Step:
    """Turn a tree into a function, once: a suggestion evaluates each formula thousands of times."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return _constant(node.value)
    if isinstance(node, ast.Name):
        return operator.itemgetter(node.id)
    parts = [_compile(part) for part in _operands(node)]
    if isinstance(node, ast.IfExp):
        return _chosen(*parts)
    if isinstance(node, ast.BoolOp):
        return _combined(all if isinstance(node.op, ast.And) else any, parts)
    return _applied(_function(node), parts)


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left, _, right) | ast.Compare(left, [_], [right]):
            return [left, right]
        case ast.BoolOp(_, parts) | ast.Call(ast.Name(), parts, []):
            return parts
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.IfExp(test, body, orelse):
            return [test, body, orelse]
    raise ValueError(f"{ast.unparse(node)!r} is no part of a formula")


def _function(node: ast.expr) -> Callable[..., int]:
    name: object = None
    match node:
        case ast.BinOp(_, operation, _) | ast.Compare(_, [operation], _) | ast.UnaryOp(operation, _):
            name = type(operation)
        case ast.Call(ast.Name(id=text), _, _):
            name = text
    if name not in _FUNCTIONS:
        raise ValueError(f"{ast.unparse(node)!r} is no part of a formula")
    return _FUNCTIONS[name]


def _constant(number: int) -> _Step:
    return lambda _: number


def _combined(quantifier: Callable[..., bool], parts: list[_Step]) -> _Step:
    return lambda values: quantifier(part(values) for part in parts)


def _applied(function: Callable[..., int], arguments: list[_Step]) -> _Step:
    return lambda values: function(*(argument(values) for argument in arguments))


def _chosen(test: _Step, body: _Step, orelse: _Step) -> _Step:
    return lambda values: body(values) if test(values) else orelse(values)
