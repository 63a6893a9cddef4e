"""Expressions of the read program, evaluated as far as that needs nothing but its text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from example_sanity.schema.argparse.dotlist import Words
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Choice,
    Function,
    Partial,
    Scope,
    Value,
    choice,
    iterate,
    options,
    same,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_ELEMENTS = 2000


class Expressions:
    """Evaluates expressions; names, attributes and calls are left to the interpreter."""

    def __init__(self) -> None:
        # parse_known_args calls whose second result nobody reads.
        self.dropping: set[ast.AST] = set()

    def name(self, name: str, scope: Scope) -> Value:
        """Return what a name means."""
        raise NotImplementedError

    def attribute(self, owner: Value, name: str) -> Value:
        """Return an attribute of a value."""
        raise NotImplementedError

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Do what a call does and return what it returns."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value."""
        raise NotImplementedError

    def elements(self, value: Value) -> Iterator[Value] | None:
        """Return the elements of a value, None when they are not known."""
        return iterate(value)

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return the value of an expression."""
        if node is None:
            return None
        method: Callable[[ast.expr, Scope], Value] | None = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            return method(node, scope)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        return UNKNOWN

    def _Constant(self, node: ast.Constant, scope: Scope) -> Value:
        del scope
        return node.value

    def _Name(self, node: ast.Name, scope: Scope) -> Value:
        return self.name(node.id, scope)

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        owner = self.evaluate(node.value, scope)
        return choice([self.attribute(option, node.attr) for option in options(owner)])

    def _Call(self, node: ast.Call, scope: Scope) -> Value:
        return self.call(node, scope)

    def _List(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for element in node.elts:
            if not isinstance(element, ast.Starred):
                found.append(self.evaluate(element, scope))
                continue
            inner = self.elements(self.evaluate(element.value, scope))
            if inner is None:
                return UNKNOWN
            found += inner
        return found

    def _Tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        found = self._List(node, scope)
        return tuple(found) if isinstance(found, list) else found

    def _Set(self, node: ast.Set, scope: Scope) -> Value:
        return self._List(node, scope)

    def _Dict(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.evaluate(value, scope)
            if key is None:
                if not isinstance(inner, dict):
                    return UNKNOWN
                found.update(inner)
                continue
            name = self.evaluate(key, scope)
            if not isinstance(name, (str, int, float)):
                return UNKNOWN
            found[name] = inner
        return found

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        texts: list[Value] = [""]
        for part in node.values:
            value = part.value if isinstance(part, ast.Constant) else self._formatted(part, scope)
            texts = [_concatenated(text, option) for text in texts for option in options(value)]
            if len(texts) > _MOST_ELEMENTS:
                return UNKNOWN
        return choice(texts)

    def _formatted(self, part: ast.expr, scope: Scope) -> Value:
        if not isinstance(part, ast.FormattedValue):
            return UNKNOWN
        value = self.evaluate(part.value, scope)
        plain = part.format_spec is None and part.conversion in (-1, 115)
        return choice([_as_text(option) if plain else UNKNOWN for option in options(value)])

    def _BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if isinstance(node.op, ast.Add):
            return choice([_added(a, b) for a in options(left) for b in options(right)])
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return Partial(left.partition("%")[0])
        numbers = (int, float)
        if isinstance(left, numbers) and isinstance(right, numbers) and isinstance(node.op, ast.Mult):
            return left * right
        return UNKNOWN

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        values = [self.evaluate(value, scope) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        kept: list[Value] = []
        for value in values[:-1]:
            answer = truth(value)
            if answer is decisive:
                return choice([*kept, value])
            if answer is None:
                kept.append(value)
        return choice([*kept, values[-1]])

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            answer = truth(value)
            return UNKNOWN if answer is None else not answer
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return UNKNOWN

    def _Compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.evaluate(node.left, scope)
        rights = [self.evaluate(item, scope) for item in node.comparators]
        if len(rights) > 1:
            return UNKNOWN
        answers = {
            _compared(node.ops[0], one, other) for one in options(left) for other in options(rights[0])
        }
        answer = answers.pop()
        return UNKNOWN if answers or answer is None else answer

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        answer = truth(self.evaluate(node.test, scope))
        if answer is not None:
            return self.evaluate(node.body if answer else node.orelse, scope)
        return choice([self.evaluate(node.body, scope), self.evaluate(node.orelse, scope)])

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        if (
            isinstance(node.value, ast.Call)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == 0
        ):
            self.dropping.add(node.value)
        owner = self.evaluate(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return _sliced(owner, node.slice)
        index = self.evaluate(node.slice, scope)
        if isinstance(owner, Words) and isinstance(index, str):
            owner.own.add(index)
        if isinstance(owner, dict) and isinstance(index, (str, int)):
            return owner.get(index, UNKNOWN)
        if (
            isinstance(owner, (list, tuple, str))
            and isinstance(index, int)
            and -len(owner) <= index < len(owner)
        ):
            return owner[index]
        return UNKNOWN

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Function(scope.module, node, scope)

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.bind(node.target, value, scope)
        return value

    def _Await(self, node: ast.Await, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _Starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Value:
        inner = Scope(scope.module, {}, scope, function=scope.function)
        runs = self._comprehension(node.generators, inner)
        found = [self.evaluate(node.elt, inner) for _ in runs]
        return UNKNOWN if inner.returns else found

    _GeneratorExp = _ListComp
    _SetComp = _ListComp

    def _DictComp(self, node: ast.DictComp, scope: Scope) -> Value:
        inner = Scope(scope.module, {}, scope, function=scope.function)
        found: dict[Value, Value] = {}
        for _ in self._comprehension(node.generators, inner):
            key = self.evaluate(node.key, inner)
            if not isinstance(key, (str, int)):
                return UNKNOWN
            found[key] = self.evaluate(node.value, inner)
        return UNKNOWN if inner.returns else found

    def _comprehension(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[None]:
        """Bind the targets for each element; where elements are not known, ``scope.returns`` says so."""
        if not generators:
            yield
            return
        first, *rest = generators
        elements = self.elements(self.evaluate(first.iter, scope))
        if elements is None:
            scope.returns.append(UNKNOWN)
            elements = iter([UNKNOWN])
        for element in elements:
            self.bind(first.target, element, scope)
            answers = [truth(self.evaluate(test, scope)) for test in first.ifs]
            if False in answers:
                continue
            if None in answers:
                scope.returns.append(UNKNOWN)
            yield from self._comprehension(rest, scope)


def _as_text(value: Value) -> Value:
    if isinstance(value, (str, int, float)):
        return str(value)
    return value if isinstance(value, Partial) else UNKNOWN


def _concatenated(left: Value, right: Value) -> Value:
    if isinstance(left, Partial):
        return left
    assert isinstance(left, str)
    if isinstance(right, str):
        return left + right
    return Partial(left + right.prefix) if isinstance(right, Partial) else Partial(left)


def _added(left: Value, right: Value) -> Value:
    if isinstance(left, str):
        return _concatenated(left, right)
    if isinstance(left, Partial):
        return left
    if isinstance(left, list) and isinstance(right, (list, tuple)):
        return [*left, *right]
    if isinstance(left, tuple) and isinstance(right, (list, tuple)):
        return (*left, *right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left + right
    return UNKNOWN


def _sliced(owner: Value, node: ast.Slice) -> Value:
    ends = [part for part in (node.lower, node.upper) if part is not None]
    if not isinstance(owner, (str, list, tuple)) or node.step is not None:
        return UNKNOWN
    if not all(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in ends):
        return UNKNOWN
    lower, upper = (
        part.value if isinstance(part, ast.Constant) else None for part in (node.lower, node.upper)
    )
    assert lower is None or isinstance(lower, int)
    assert upper is None or isinstance(upper, int)
    return owner[lower:upper]


def _known(value: Value) -> bool:
    return value is not UNKNOWN and not isinstance(value, (Partial, Choice))


def _compared(operator: ast.cmpop, left: Value, right: Value) -> bool | None:
    """Return the answer of a comparison, None where it is not known."""
    if isinstance(operator, (ast.In, ast.NotIn)):
        if not isinstance(right, (list, tuple, dict)) or not _known(left) or not all(map(_known, right)):
            return None
        inside = any(same(left, item) for item in right)
        return inside if isinstance(operator, ast.In) else not inside
    if not _known(left) or not _known(right):
        return None
    if isinstance(operator, (ast.Eq, ast.Is)):
        return same(left, right)
    return not same(left, right) if isinstance(operator, (ast.NotEq, ast.IsNot)) else None
