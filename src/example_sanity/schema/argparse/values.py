"""What an expression of the read program may be: plain Python data where it is known, and these where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import field

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from example_sanity.schema.argparse.modules import Module

Value: TypeAlias = object


class Unknown:
    """A value of which nothing is known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class Partial(msgspec.Struct, frozen=True):
    """A text of which only the start is known."""

    prefix: str


class External(msgspec.Struct, frozen=True):
    """Something of the standard library or of a package whose source is not here, by its dotted name."""

    name: str

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


class Deferred(msgspec.Struct, frozen=True):
    """An imported name that was not needed yet; ``attribute`` is None for the module itself."""

    module: str
    attribute: str | None


class ModuleValue(msgspec.Struct, frozen=True):
    """A module or a package, by its dotted name."""

    name: str


class Scope(msgspec.Struct):
    """The names of a module or of one call of a function, and what it has returned so far."""

    module: Module
    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    returns: list[Value] = field(default_factory=list)
    function: ast.AST | None = None


class Function(msgspec.Struct, eq=False):
    """A function of the source, with the scope that it was defined in and the values that were bound to it."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope | None = None
    bound: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)


class Class(msgspec.Struct, eq=False):
    """A class of the source."""

    module: Module
    node: ast.ClassDef
    scope: Scope | None = None


class Member(msgspec.Struct, frozen=True):
    """A member of an enumeration of the source."""

    name: str
    value: Value


class Instance(msgspec.Struct, eq=False):
    """An object of a class of the source."""

    of: Class
    attributes: dict[str, Value] = field(default_factory=dict)


class Method(msgspec.Struct, frozen=True):
    """A method of something that we know how to treat: a parser, a list, a text."""

    owner: Value
    name: str


class Choice(msgspec.Struct, eq=False):
    """One of several values."""

    options: tuple[Value, ...]


def options(value: Value) -> tuple[Value, ...]:
    """Return everything that a value may be."""
    return value.options if isinstance(value, Choice) else (value,)


def choice(values: list[Value] | tuple[Value, ...]) -> Value:
    """Return the value that is one of ``values``: UNKNOWN for none, the value itself where they are all the same."""
    flat: list[Value] = []
    for value in values:
        for option in options(value):
            if not any(same(option, seen) for seen in flat):
                flat.append(option)
    if not flat:
        return UNKNOWN
    return flat[0] if len(flat) == 1 else Choice(tuple(flat[:40]))


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same, True and 1 kept apart."""
    return one is other or (type(one) is type(other) and one == other)


def truth(value: Value) -> bool | None:
    """Return whether a value counts as true, None when that is not known."""
    if isinstance(value, Choice):
        answers = {truth(option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if value is None or isinstance(value, (bool, int, float, str, list, tuple, dict)):
        return bool(value)
    if isinstance(value, (Function, Class, Instance, ModuleValue)):
        return True
    return True if isinstance(value, Partial) and value.prefix else None


def iterate(value: Value) -> Iterator[Value] | None:
    """Return the elements of a value, None when they are not known."""
    if isinstance(value, (list, tuple, dict)):
        return iter(list(value))
    return iter(value) if isinstance(value, str) else None
