"""Dataclasses of the read program: their fields, and what the annotations say of the values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.schema.argparse.parsers import is_enum_base
from example_sanity.schema.argparse.values import UNKNOWN, Class, External, Member, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeGuard

    from example_sanity.schema.argparse.interpreter import Interpreter
    from example_sanity.schema.argparse.modules import Module

# Bases without fields of their own.
_EMPTY_BASES = frozenset({"object", "ABC", "Generic", "Protocol", "Struct"})
_UNIONS = frozenset({"Union", "Optional"})
_WRAPPERS = frozenset({"Annotated", "Final", "Required", "A"})
_LISTS = frozenset({"list", "List", "Sequence", "tuple", "Tuple", "set", "Set"})


class Field(msgspec.Struct, frozen=True):
    """One field of a dataclass. ``default`` is UNKNOWN where there is none or it is not plain."""

    of: Class
    name: str
    annotation: ast.expr
    default: Value
    metadata: Mapping[str, Value] | None
    init: bool
    required: bool
    path: str
    line: int

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.line))


class Fields(msgspec.Struct, frozen=True):
    """The fields of a dataclass with its bases; ``missing`` names a base whose source is not here."""

    items: tuple[Field, ...]
    missing: str | None = None


class Described(msgspec.Struct):
    """What an annotation says. ``kind`` is the name of the type, ``members`` the names of an enumeration."""

    kind: str = "unknown"
    value: Value = UNKNOWN
    optional: bool = False
    many: bool = False
    union: bool = False
    choices: tuple[Value, ...] = ()
    members: tuple[str, ...] = ()
    extra: list[ast.expr] = field(default_factory=list)


def fields(of: Class, interpreter: Interpreter) -> Fields:
    """Return the fields of a dataclass in the order in which dataclasses have them."""
    found: dict[str, Field] = {}
    missing: str | None = None
    for holder in reversed(interpreter.ancestry(of)):
        for base in interpreter.bases(holder):
            if not isinstance(base, Class) and not (isinstance(base, External) and base.last in _EMPTY_BASES):
                missing = base.name if isinstance(base, External) else "a computed base"
        scope = Scope(holder.module, {}, holder.scope)
        for node in holder.node.body:
            if _is_field(node):
                name = ast.unparse(node.target)
                found[name] = _field(holder, node, name, scope, interpreter)
    return Fields(tuple(found.values()), missing)


def _is_field(node: ast.stmt) -> TypeGuard[ast.AnnAssign]:
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return False
    return "ClassVar" not in ast.unparse(node.annotation)


def _field(holder: Class, node: ast.AnnAssign, name: str, scope: Scope, interpreter: Interpreter) -> Field:
    value = node.value
    default: Value = UNKNOWN
    metadata: Mapping[str, Value] | None = None
    init = True
    required = value is None
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "field":
        given = {item.arg: item.value for item in value.keywords if item.arg}
        default = interpreter.evaluate(given["default"], scope) if "default" in given else UNKNOWN
        required = "default" not in given and "default_factory" not in given
        found = interpreter.evaluate(given["metadata"], scope) if "metadata" in given else None
        metadata = {str(key): item for key, item in found.items()} if isinstance(found, dict) else None
        init = not ("init" in given and interpreter.evaluate(given["init"], scope) is False)
    elif value is not None:
        default = interpreter.evaluate(value, scope)
    return Field(
        holder, name, node.annotation, default, metadata, init, required, holder.module.path, node.lineno
    )


def attribute(owner: Field, name: str, interpreter: Interpreter) -> Value:
    """Return an attribute of a field as the program sees it."""
    if name == "name":
        return owner.name
    if name == "default":
        return owner.default
    if name == "metadata":
        return {} if owner.metadata is None else dict(owner.metadata)
    if name == "type" and "from __future__ import annotations" not in owner.of.module.text:
        return interpreter.evaluate(owner.annotation, Scope(owner.of.module, {}, owner.of.scope))
    return UNKNOWN


def describe(annotation: ast.expr, of: Class, interpreter: Interpreter) -> Described:
    """Return what an annotation says of a value."""
    return _Reader(of, interpreter).read(annotation)


class _Reader:
    def __init__(self, of: Class, interpreter: Interpreter) -> None:
        self._scope = Scope(of.module, {}, of.scope)
        self._module: Module = of.module
        self._interpreter = interpreter

    def read(self, node: ast.expr) -> Described:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self.read(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                return Described()
        if isinstance(node, ast.Constant) and node.value is None:
            return Described("None")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union(list(_alternatives(node)))
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        return self._plain(node)

    def _plain(self, node: ast.expr) -> Described:
        value = self._interpreter.evaluate(node, self._scope)
        if isinstance(value, External):
            many = value.last in _LISTS
            return Described("unknown" if many else value.last, value, many=many)
        if isinstance(value, Class):
            if is_enum(value, self._interpreter):
                return Described("enum", value, members=tuple(item.name for item in members(value)))
            return Described("class", value)
        return Described()

    def _subscript(self, node: ast.Subscript) -> Described:
        value = self._interpreter.evaluate(node.value, self._scope)
        name = value.last if isinstance(value, External) else ast.unparse(node.value).rpartition(".")[2]
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in _UNIONS:
            return self._union([*inner, ast.Constant(None)] if name == "Optional" else inner)
        if name in _WRAPPERS:
            found = self.read(inner[0])
            found.extra = inner[1:]
            return found
        if name in _LISTS:
            found = self.read(inner[0])
            if found.many:
                return Described()
            found.many = True
            return found
        if name == "Literal":
            choices = tuple(self._interpreter.evaluate(item, self._scope) for item in inner)
            return Described(type(choices[0]).__name__, choices=choices)
        return Described(name)

    def _union(self, nodes: list[ast.expr]) -> Described:
        found = [self.read(node) for node in nodes]
        rest = [item for item in found if item.kind != "None"]
        if len(rest) != 1:
            return Described(union=True, optional=len(rest) < len(found))
        rest[0].optional = len(rest) < len(found)
        return rest[0]


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    else:
        yield node


def is_enum(of: Class, interpreter: Interpreter) -> bool:
    """Whether a class is an enumeration."""
    return any(is_enum_base(base) for item in interpreter.ancestry(of) for base in interpreter.bases(item))


def members(of: Class) -> list[Member]:
    """Return the members of an enumeration; a value that is not plain is UNKNOWN."""
    found = []
    for node in of.node.body:
        if isinstance(node, ast.Assign):
            value = node.value.value if isinstance(node.value, ast.Constant) else UNKNOWN
            names = [item.id for item in node.targets if isinstance(item, ast.Name)]
            found += [Member(name, value) for name in names if not name.startswith("_")]
    return found
