"""Statements of the read program: both ways of a branch are taken unless it is known which one runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from example_sanity.schema.argparse.expressions import Expressions
from example_sanity.schema.argparse.parsers import Parser
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Class,
    Deferred,
    External,
    Function,
    Instance,
    Method,
    Scope,
    Value,
    choice,
    iterate,
    options,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ARGV = External("sys.argv")
ARGV_CHANGES = "the program changes sys.argv"


class Statements(Expressions):
    """Runs statements; expressions are left to the interpreter. A statement answers whether it ends its block."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = 0
        self.unresolved: list[str] = []

    def decorated(self, function: Function, scope: Scope) -> Value:
        """Return what the decorators make of a function."""
        raise NotImplementedError

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Run statements until one of them ends the block, and answer whether one did."""
        return any(self.statement(node, scope) for node in body)

    def statement(self, node: ast.stmt, scope: Scope) -> bool:
        """Run one statement."""
        method: Callable[[ast.stmt, Scope], bool] | None = getattr(self, f"_{type(node).__name__}", None)
        return method(node, scope) if method is not None else False

    def _Expr(self, node: ast.Expr, scope: Scope) -> bool:
        self.evaluate(node.value, scope)
        return False

    def _Return(self, node: ast.Return, scope: Scope) -> bool:
        scope.returns.append(self.evaluate(node.value, scope))
        return True

    def _Raise(self, node: ast.Raise, scope: Scope) -> bool:
        del node, scope
        return True

    def _Break(self, node: ast.Break | ast.Continue, scope: Scope) -> bool:
        del node, scope
        return True

    _Continue = _Break

    def _Assign(self, node: ast.Assign, scope: Scope) -> bool:
        self._note_dropping(node, scope)
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.bind(target, value, scope)
        return False

    def _note_dropping(self, node: ast.Assign, scope: Scope) -> None:
        """``args, _ = parser.parse_known_args()``: what no flag matches is gone."""
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            rest = target.elts[1]
            holder = scope.function or scope.module.tree
            if isinstance(rest, ast.Name) and not _is_read(rest.id, holder):
                self.dropping.add(node.value)

    def _AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> bool:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value, scope), scope)
        return False

    def _AugAssign(self, node: ast.AugAssign, scope: Scope) -> bool:
        target = node.target
        loaded = ast.BinOp(_loaded(target), node.op, node.value)
        self.bind(target, self.evaluate(loaded, scope), scope)
        return False

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value to a name, an attribute, an element, or to several of them."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            elements = iterate(value)
            parts = [] if elements is None else list(elements)
            for place, inner in enumerate(target.elts):
                exact = len(parts) == len(target.elts)
                self.bind(inner, parts[place] if exact else UNKNOWN, scope)
        elif isinstance(target, ast.Attribute):
            for owner in options(self.evaluate(target.value, scope)):
                if owner == External("sys") and target.attr == "argv":
                    self.unresolved.append(ARGV_CHANGES)
                _set_attribute(owner, target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, scope)
            key = self.evaluate(target.slice, scope)
            if owner == ARGV:
                self.unresolved.append(ARGV_CHANGES)
            if isinstance(owner, dict) and isinstance(key, (str, int)):
                owner[key] = value

    def _Delete(self, node: ast.Delete, scope: Scope) -> bool:
        if any(isinstance(t, ast.Subscript) and self.evaluate(t.value, scope) == ARGV for t in node.targets):
            self.unresolved.append(ARGV_CHANGES)
        return False

    def _If(self, node: ast.If, scope: Scope) -> bool:
        answer = truth(self.evaluate(node.test, scope))
        if answer is not None:
            return self.block(node.body if answer else node.orelse, scope)
        return self._either([node.body, node.orelse], scope)

    def _either(self, bodies: Sequence[Sequence[ast.stmt]], scope: Scope) -> bool:
        """Run every body on the names as they are, and let each name be what it may be afterwards."""
        before = dict(scope.names)
        outcomes: list[dict[str, Value]] = []
        self.branches += 1
        for body in bodies:
            scope.names = dict(before)
            if not self.block(body, scope):
                outcomes.append(scope.names)
        self.branches -= 1
        scope.names = before
        if outcomes:
            names = dict.fromkeys(name for outcome in outcomes for name in outcome)
            scope.names = {
                name: choice([outcome[name] for outcome in outcomes if name in outcome]) for name in names
            }
        return not outcomes

    def _For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        elements = self.elements(self.evaluate(node.iter, scope))
        if elements is None:
            self.bind(node.target, UNKNOWN, scope)
            self._either([node.body, []], scope)
        else:
            for element in elements:
                self.bind(node.target, element, scope)
                self.block(node.body, scope)
        self._either([node.orelse, []], scope)
        return False

    _AsyncFor = _For

    def _While(self, node: ast.While, scope: Scope) -> bool:
        self.evaluate(node.test, scope)
        self._either([node.body, []], scope)
        return False

    def _With(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            value = self.evaluate(item.context_expr, scope)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, scope)
        return self.block(node.body, scope)

    _AsyncWith = _With

    def _Try(self, node: ast.Try, scope: Scope) -> bool:
        ended = self._either([[*node.body, *node.orelse], *(item.body for item in node.handlers)], scope)
        return self.block(node.finalbody, scope) or ended

    _TryStar = _Try

    def _Match(self, node: ast.Match, scope: Scope) -> bool:
        self.evaluate(node.subject, scope)
        return self._either([*(case.body for case in node.cases), []], scope)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
        function = Function(scope.module, node, scope)
        scope.names[node.name] = self.decorated(function, scope) if node.decorator_list else function
        return False

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, scope: Scope) -> bool:
        scope.names[node.name] = Class(scope.module, node, scope)
        return False

    def _Import(self, node: ast.Import, scope: Scope) -> bool:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            scope.names[alias.asname or name] = Deferred(name, None)
        return False

    def _ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> bool:
        module = scope.module.absolute(node.module, node.level)
        for alias in node.names:
            if alias.name != "*":
                scope.names[alias.asname or alias.name] = Deferred(module, alias.name)
        return False


def _set_attribute(owner: Value, name: str, value: Value) -> None:
    if isinstance(owner, Instance):
        owner.attributes[name] = value
    elif isinstance(owner, Parser) and name == "add_argument":
        owner.override = None if value == Method(owner, "add_argument") else value


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def _is_read(name: str, holder: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(holder)
    )
