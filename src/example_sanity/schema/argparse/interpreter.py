"""Runs a program on paper: only what builds and uses command-line parsers, every branch whose condition is not known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from example_sanity.core.regex import regex
from example_sanity.schema.argparse import click_commands, dataclass_fields, dataclass_parsers, library, plain
from example_sanity.schema.argparse.dotlist import Words
from example_sanity.schema.argparse.names import Names
from example_sanity.schema.argparse.parsers import Parser, parsers_in
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Class,
    External,
    Function,
    Instance,
    Member,
    Method,
    ModuleValue,
    Scope,
    Value,
    choice,
    iterate,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.schema.argparse.modules import Module, Sources

_MOST_CALLS = 4000
_DEEPEST = 40
# What a function that builds, fills or uses a parser mentions.
_MENTIONS = regex(
    r"[Pp]arser|parse_|add_argument|ArgumentGroup|tyro|OmegaConf|_cli\b|cli\(|_provider\b|get_args_from"
)
# How a function is called that reads the command line on its own.


class Exhausted(Exception):
    """The program is too long to be run on paper."""


class Finished(Exception):
    """The command line was read for good; what follows cannot change what it may say."""


class Interpreter(Names):
    """One run of an entry module. ``parsers`` are all that were made, ``unresolved`` why others may exist.

    ``merges`` are the configurations that OmegaConf laid over each other.
    """

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.parsers: list[Parser] = []
        self.merges: list[tuple[Value, ...]] = []
        self._stack: list[ast.AST] = []
        self._calls = 0
        self._relevant: dict[ast.AST, bool] = {}

    def run(self, module: Module) -> None:
        """Run a module as ``__main__``. Raises Exhausted."""
        scope = self.scope_of(module)
        scope.names["__name__"] = "__main__"
        scope.names["__file__"] = UNKNOWN
        with suppress(Finished):
            self.block(module.tree.body, scope)

    def decorated(self, function: Function, scope: Scope) -> Value:
        """Return what the decorators make of a function."""
        return click_commands.decorated(function, scope, self)

    def finish(self) -> None:
        """Stop where the command line was read for good, unless that was in one of several branches."""
        if not self.branches:
            raise Finished

    def attribute(self, owner: Value, name: str) -> Value:
        """Return an attribute of a value."""
        if isinstance(owner, ModuleValue):
            return self.imported(owner.name, name)
        if isinstance(owner, External):
            return External(f"{owner.name}.{name}")
        if isinstance(owner, Parser):
            return self._parser_attribute(owner, name)
        if isinstance(owner, Words):
            owner.attribute(name)
            return Method(owner, name)
        if isinstance(owner, Instance):
            own = owner.attributes
            return own[name] if name in own else self.member(owner.of, name, owner)
        return self._plain_attribute(owner, name)

    def _plain_attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Class):
            return self.member(owner, name, None)
        if isinstance(owner, Member):
            return {"name": owner.name, "value": owner.value}.get(name, UNKNOWN)
        if not isinstance(owner, dataclass_fields.Field):
            return Method(owner, name)
        return dataclass_fields.attribute(owner, name, self)

    def _parser_attribute(self, owner: Parser, name: str) -> Value:
        if name == "add_argument" and owner.override is not None:
            return owner.override
        own = UNKNOWN if owner.made_by is None else self.member(owner.made_by, name, owner)
        return own if isinstance(own, Function) else Method(owner, name)

    def elements(self, value: Value) -> Iterator[Value] | None:
        """Return the elements of a value, the members of an enumeration included."""
        if isinstance(value, Class) and dataclass_fields.is_enum(value, self):
            return iter(dataclass_fields.members(value))
        return iterate(value)

    def member(self, of: Class, name: str, instance: Value) -> Value:
        """Return what an attribute of a class is, bound to an instance where there is one."""
        for holder in self.ancestry(of):
            for node in holder.node.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                    return _bound(node, holder, instance, of)
                if isinstance(node, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == name for t in node.targets
                ):
                    return self.evaluate(node.value, Scope(holder.module, {}, holder.scope))
                if (
                    isinstance(node, ast.AnnAssign)
                    and isinstance(node.target, ast.Name)
                    and node.target.id == name
                    and node.value
                ):
                    return self.evaluate(node.value, Scope(holder.module, {}, holder.scope))
        return UNKNOWN

    def bases(self, of: Class) -> list[Value]:
        """Return the base classes of a class, those from elsewhere as External."""
        scope = of.scope or self.scope_of(of.module)
        values = [self.evaluate(_unsubscripted(base), scope) for base in of.node.bases]
        return [option for value in values for option in options(value)]

    def ancestry(self, of: Class) -> list[Class]:
        """Return a class and the bases of it that are here, nearest first."""
        found: list[Class] = [of]
        for current in found:
            for base in self.bases(current):
                if isinstance(base, Class) and all(base.node is not seen.node for seen in found):
                    found.append(base)
        return found

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Do what a call does: step into what matters for parsers, treat the library's own, ignore the rest."""
        target = self.evaluate(node.func, scope)
        positional = self._arguments(node, scope)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict):
                keywords.update({str(key): inner for key, inner in value.items()})
            else:
                keywords["**"] = value
        call = plain.Call(self, node, scope, positional, keywords)
        return choice([self.apply(option, call) for option in options(target)])

    def _arguments(self, node: ast.Call, scope: Scope) -> list[Value]:
        found: list[Value] = []
        for argument in node.args:
            value = self.evaluate(argument, scope)
            if not isinstance(argument, ast.Starred):
                found.append(value)
                continue
            elements = [self.elements(option) for option in options(value)]
            for inner in elements:
                found += [UNKNOWN] if inner is None else inner
        return found

    def apply(self, target: Value, call: plain.Call) -> Value:
        """Call a value."""
        for kind, treat in _CALLS:
            if isinstance(target, kind):
                return treat(target, call)
        if isinstance(target, Function):
            return self.enter(target, call)
        if target is not None:
            self.escape(call, "a call of something that is not known")
        return UNKNOWN

    def escape(self, call: plain.Call, name: str) -> None:
        """Note the parsers that are handed to something whose source is not here."""
        for value in (*call.positional, *call.keywords.values()):
            if isinstance(value, Words):
                value.lost = True
        for parser in parsers_in([*call.positional, *call.keywords.values()]):
            if parser.override is not None:
                # Whatever is added goes through the program's own function, which may give it a prefix.
                inner = plain.Call(self, call.node, call.scope, [UNKNOWN], {"**": UNKNOWN})
                parser.override, override = None, parser.override
                for option in options(override):
                    if isinstance(option, Function):
                        self.enter(option, inner, certainly=True)
                parser.override = override
            else:
                parser.leave_open(f"{name} adds flags, and its source is not here")

    def enter(self, function: Function, call: plain.Call, *, certainly: bool = False) -> Value:
        """Step into a function, when it has to do with parsers or is said to."""
        if getattr(function.node, "name", "") == dataclass_parsers.ANNOTATED:
            return library.TREATED[dataclass_parsers.ANNOTATED](call)
        values = [*function.bound, *call.positional, *call.keywords.values(), *function.keywords.values()]
        if not certainly and not self._matters(function, values):
            return UNKNOWN
        self._calls += 1
        if self._calls > _MOST_CALLS:
            raise Exhausted
        if self._stack.count(function.node) > 1 or len(self._stack) > _DEEPEST:
            self.escape(call, "a recursion")
            return UNKNOWN
        scope = Scope(function.module, {}, function.scope, function=function.node)
        self._fill(function, call, scope)
        self._stack.append(function.node)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.evaluate(function.node.body, scope)
            fell_through = not self.block(function.node.body, scope)
        finally:
            self._stack.pop()
        return choice([*scope.returns, *([None] if fell_through and scope.returns else [])])

    def _matters(self, function: Function, values: Sequence[Value]) -> bool:
        if parsers_in(values) or isinstance(function.node, ast.Lambda):
            return True
        given = (option for value in values for option in options(value))
        if any(isinstance(value, Function) and self._mentions(value) for value in given):
            return True
        return self._mentions(function)

    def _mentions(self, function: Function) -> bool:
        """Whether a function, or one of its module that it names, mentions parsers."""
        node = function.node
        if node not in self._relevant:
            self._relevant[node] = bool(_MENTIONS.search(function.module.segment(node)))
            if not self._relevant[node]:
                self._relevant[node] = any(map(self._mentions, _neighbours(function)))
        return self._relevant[node]

    def _fill(self, function: Function, call: plain.Call, scope: Scope) -> None:
        """Give the parameters of a function their values."""
        arguments = function.node.args
        outer = function.scope or self.scope_of(function.module)
        names = [*arguments.posonlyargs, *arguments.args]
        values = [*function.bound, *call.positional]
        defaults = [None] * (len(names) - len(arguments.defaults)) + list(arguments.defaults)
        for name, default in zip(names, defaults, strict=True):
            scope.names[name.arg] = UNKNOWN if default is None else self.evaluate(default, outer)
        for name, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            scope.names[name.arg] = UNKNOWN if default is None else self.evaluate(default, outer)
        for name, value in zip(names, values, strict=False):
            scope.names[name.arg] = value
        keywords = {**function.keywords, **call.keywords}
        known = {name.arg for name in (*names, *arguments.kwonlyargs)}
        scope.names.update({name: value for name, value in keywords.items() if name in known})
        if arguments.vararg:
            scope.names[arguments.vararg.arg] = tuple(values[len(names) :])
            if any(value is UNKNOWN for value in call.positional) and "**" in keywords:
                scope.names[arguments.vararg.arg] = UNKNOWN
        if arguments.kwarg:
            rest = {name: value for name, value in keywords.items() if name not in known}
            scope.names[arguments.kwarg.arg] = rest


_CALLS: tuple[tuple[type, Callable[[Any, plain.Call], Value]], ...] = (
    (Class, library.instantiate),
    (click_commands.Command, click_commands.run),
    (Method, library.method),
    (External, library.external),
)


def _bound(
    node: ast.FunctionDef | ast.AsyncFunctionDef, holder: Class, instance: Value, of: Class
) -> Function | Value:
    decorators = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
    if "staticmethod" in decorators:
        return Function(holder.module, node, holder.scope)
    if "classmethod" in decorators:
        return Function(holder.module, node, holder.scope, (of,))
    if "property" in decorators:
        return UNKNOWN
    return Function(holder.module, node, holder.scope, () if instance is None else (instance,))


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _neighbours(function: Function) -> list[Function]:
    """The functions of the same module that a function names."""
    bindings = function.module.bindings
    found: list[Function] = []
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name):
            inner = [item for item in bindings.get(node.id, ()) if isinstance(item, ast.FunctionDef)]
            found += [Function(function.module, item) for item in inner if item is not function.node]
    return found
