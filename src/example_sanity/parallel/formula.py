"""The formulas of the backends: integer arithmetic as the documentation writes it, ``cp > 1 => seq % (2·cp) = 0``.

A formula is the one place where a constraint is written down: it is evaluated, shown, and searched for the symbols
that it needs. Known are whole numbers, symbols, ``+ - · // %``, comparisons, ``and or not``, ``a if b else c``,
``a => b`` and the functions lcm, gcd, min, max and ceil (``ceil(a, b)`` is a / b rounded up).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

from example_sanity.core.regex import regex

Values = Mapping[str, int]

_OPERATORS = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
    ast.Mod,
    ast.USub,
    ast.Not,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
)
_FUNCTIONS: Mapping[str, Callable[..., int]] = {
    "lcm": math.lcm,
    "gcd": math.gcd,
    "min": min,
    "max": max,
    "ceil": lambda total, size: -(-total // size),
}
_KEYWORDS = {"and", "or", "not", "if", "else", *_FUNCTIONS}
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
    def _compiled(self) -> Callable[[Values], int]:
        return _compile(_parse(self.condition or "1"), _parse(self.claim))

    def value(self, values: Values) -> int:
        """Return the value, 1 or 0 for a claim; a false condition makes it 1.

        Raises ValueError when the text is no formula, KeyError for a symbol that is not in ``values`` and
        ZeroDivisionError where it divides by 0.
        """
        return self._compiled(values)

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


def _compile(condition: ast.expr, claim: ast.expr) -> Callable[[Values], int]:
    """Turn a formula into a function of Python's own, once: a suggestion evaluates each formula thousands of times."""
    coder = _Coder()
    whole = ast.Call(_name("int"), [coder.visit(claim)], [])
    body = ast.IfExp(coder.visit(condition), whole, ast.Constant(1))
    parameters = ast.arguments([], [ast.arg("values")], None, [], [], None, [])
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(parameters, body)))
    # Nothing but numbers, symbols and the operations above gets through the coder.
    names = {"__builtins__": {}, "int": int, **_FUNCTIONS}
    made: Callable[[Values], int] = eval(compile(tree, "formula", "eval"), names)
    return made


class _Coder(ast.NodeTransformer):
    """Makes each symbol a look-up in ``values``. Raises ValueError for what is no part of a formula."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and not _is_part(node):
            raise ValueError(f"{ast.unparse(node)!r} is no part of a formula")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Subscript(_name("values"), ast.Constant(node.id), ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, [self.visit(part) for part in node.args], [])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        # Both are claims here: true or false, whatever their parts come to.
        joined = ast.BoolOp(node.op, [self.visit(part) for part in node.values])
        return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), joined))


def _is_part(node: ast.expr) -> bool:
    match node:
        case ast.Constant(int()) | ast.Name() | ast.BoolOp() | ast.IfExp():
            return True
        case ast.BinOp(_, operation, _) | ast.Compare(_, [operation], _) | ast.UnaryOp(operation, _):
            return isinstance(operation, _OPERATORS)
        case ast.Call(ast.Name(function), _, []):
            return function in _FUNCTIONS
    return False


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())
