"""Reads dataclasses statically: the class behind ``_target_``, its fields, their types and choices."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from example_sanity.core.regex import regex
from example_sanity.schema.hydra.roots import Roots

_SIMPLE = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
    "None": "null",
    "NoneType": "null",
    "list": "list",
    "List": "list",
    "tuple": "list",
    "Tuple": "list",
    "Sequence": "list",
    "ListConfig": "list",
    "set": "list",
    "dict": "dict",
    "Dict": "dict",
    "Mapping": "dict",
    "DictConfig": "dict",
}
_DEPRECATED = regex(r"^\W*deprecated?\b", re.IGNORECASE)
_DOCUMENTED = regex(r"^\s*(\w+)\s*(?:\([^)]*\))?:\s*(.*)$", re.MULTILINE)


class Field(msgspec.Struct, frozen=True):
    """A field of a dataclass: the kinds of values that it takes (none: anything), choices, why it is deprecated.

    ``refused`` are single values that its class raises on; ``required`` says that it has no default.
    """

    kinds: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    note: str = ""
    refused: tuple[Any, ...] = ()
    required: bool = False


class ClassInfo(msgspec.Struct):
    """What is known of a dataclass. ``whole`` is False when a base is unknown or it takes further arguments."""

    fields: dict[str, Field] = field(default_factory=dict)
    whole: bool = True


class _Module(msgspec.Struct, frozen=True):
    """A parsed file: its classes, its imports (local name: module, name there), its constants."""

    name: str
    package: str
    classes: dict[str, ast.ClassDef]
    imports: dict[str, tuple[str, str | None]]
    stars: tuple[str, ...]
    constants: dict[str, Any]
    lines: tuple[str, ...]


# By its dotted name what is known of a class, and the files in which it was looked for.
Known = dict[str, "tuple[ClassInfo | None, frozenset[Path]]"]


class Classes:
    """Finds classes by their dotted names. Nothing is imported. ``files`` are those that were looked at."""

    def __init__(self, roots: Roots, known: Known | None = None) -> None:
        """Look in ``roots``; ``known`` are classes that were found there before, which others may add to."""
        self._roots = roots
        self._known: Known = {} if known is None else known
        self._opened: set[Path] = set()
        self.files: set[Path] = set()

    def get(self, target: str) -> ClassInfo | None:
        """Return the dataclass that ``_target_`` names, or None where it is none or not found."""
        if target not in self._known:
            self._opened.clear()
            module, _, name = target.rpartition(".")
            found = self._class(module, name) if module else None
            self._known[target] = found, frozenset(self._opened)
        info, files = self._known[target]
        self.files |= files
        return info

    def _module(self, name: str) -> _Module | None:
        path = self._roots.source(name)
        if path is None:
            return None
        self._opened.add(path)
        return _parse(name, path, path.stat().st_mtime_ns)

    def _find(self, module: str, name: str, depth: int = 12) -> tuple[_Module, ast.ClassDef] | None:
        """Follow imports from a module until the class is found."""
        found = self._module(module)
        if found is None or depth == 0:
            return None
        if name in found.classes:
            return found, found.classes[name]
        if name in found.imports:
            origin, there = found.imports[name]
            return self._find(origin, there, depth - 1) if there else None
        places = (self._find(star, name, depth - 1) for star in found.stars)
        return next((place for place in places if place), None)

    def _class(self, module: str, name: str, depth: int = 12) -> ClassInfo | None:
        place = self._find(module, name)
        if place is None or depth == 0:
            return None
        home, node = place
        decorated = any("dataclass" in ast.unparse(item) for item in node.decorator_list)
        own_init = any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body)
        info = ClassInfo(whole=decorated and not own_init)
        for base in node.bases:
            self._inherit(info, home, base, depth)
        info.fields.update(_fields(node, home))
        return info

    def _inherit(self, info: ClassInfo, home: _Module, base: ast.expr, depth: int) -> None:
        name = ast.unparse(base)
        if name.partition("[")[0] in (
            "object",
            "ABC",
            "abc.ABC",
            "Mapping",
            "collections.abc.Mapping",
            "Generic",
        ):
            return
        parent = self._class(home.name, name, depth - 1) if name.isidentifier() else None
        if parent is None:
            info.whole = False
        else:
            # A base without fields of its own (a mix-in) need not be a dataclass.
            info.whole &= parent.whole or not parent.fields
            info.fields.update(parent.fields)


@lru_cache(maxsize=512)
def _parse(name: str, path: Path, changed: int) -> _Module | None:
    del changed
    try:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = _Module(name, package, {}, {}, (), {}, tuple(text.split("\n")))
    stars: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found.classes[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            for item in node.names:
                if item.name == "*":
                    stars.append(origin)
                else:
                    found.imports[item.asname or item.name] = (origin, item.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.constants[node.targets[0].id] = _literal(node.value)
    return _Module(name, package, found.classes, found.imports, tuple(stars), found.constants, found.lines)


def _origin(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _fields(node: ast.ClassDef, home: _Module) -> dict[str, Field]:
    found: dict[str, Field] = {}
    notes = _documented(node)
    choices, refused = _asserted(node, home)
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            name = item.target.id
            if "ClassVar" in ast.unparse(item.annotation) or _is_not_init(item.value):
                continue
            kinds, literal = _kinds(item.annotation)
            note = notes.get(name) or _comment(home.lines, item)
            found[name] = Field(
                kinds, literal or choices.get(name, ()), note, refused.get(name, ()), _is_required(item.value)
            )
    return found


def _is_not_init(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and any(
        item.arg == "init" and _literal(item.value) is False for item in value.keywords
    )


def _is_required(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call) or ast.unparse(value.func).rpartition(".")[2] != "field":
        return value is None
    return not any(item.arg in ("default", "default_factory", None) for item in value.keywords)


def _documented(node: ast.ClassDef) -> dict[str, str]:
    """Return the fields whose description in the class docstring begins with "deprecated"."""
    text = ast.get_docstring(node) or ""
    return {name: "deprecated" for name, words in _DOCUMENTED.findall(text) if _DEPRECATED.match(words)}


def _comment(lines: tuple[str, ...], item: ast.AnnAssign) -> str:
    line = lines[item.lineno - 1] if item.lineno <= len(lines) else ""
    trailing = line.partition("#")[2]
    return "deprecated" if _DEPRECATED.match(trailing) else ""


def _kinds(node: ast.expr) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the kinds and the choices of an annotation; no kinds where anything may stand."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _kinds(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return (), ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right])
    if isinstance(node, ast.Constant) and node.value is None:
        return ("null",), ()
    if isinstance(node, ast.Subscript):
        return _subscript(node)
    name = ast.unparse(node).rpartition(".")[2]
    return ((_SIMPLE[name],), ()) if name in _SIMPLE else ((), ())


def _subscript(node: ast.Subscript) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    name = ast.unparse(node.value).rpartition(".")[2]
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*items, ast.Constant(None)])
    if name == "Union":
        return _union(items)
    if name == "Annotated":
        return _kinds(items[0])
    if name == "Literal":
        values = tuple(_literal(item) for item in items)
        return tuple(dict.fromkeys(_kind_of(value) for value in values)), values
    return ((_SIMPLE[name],), ()) if name in _SIMPLE else ((), ())


def _union(items: list[ast.expr]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    parts = [_kinds(item) for item in items]
    if any(not kinds for kinds, _ in parts):
        return (), ()
    open_part = any(kinds != ("null",) and not choices for kinds, choices in parts)
    choices = () if open_part else tuple(value for _, values in parts for value in values)
    if choices and any("null" in kinds for kinds, _ in parts):
        choices = (*choices, None)
    return tuple(dict.fromkeys(kind for kinds, _ in parts for kind in kinds)), choices


def _kind_of(value: object) -> str:
    return {"NoneType": "null", "tuple": "list"}.get(type(value).__name__, type(value).__name__)


_Values = dict[str, tuple[Any, ...]]


def _asserted(node: ast.ClassDef, home: _Module) -> tuple[_Values, _Values]:
    """Return the values that ``__post_init__`` accepts, and those that it refuses, by field; top-level statements only.

    Read are ``assert self.x in [...]``, ``if self.x not in V: raise``, ``if self.x != "v": raise`` and
    ``if self.x == "v": raise``.
    """
    accepted: _Values = {}
    refused: _Values = {}
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__post_init__":
            for name, operator, values in filter(None, map(_tested, method.body)):
                known = home.constants.get(values.id) if isinstance(values, ast.Name) else _literal(values)
                if operator is ast.In and isinstance(known, (list, tuple, set, frozenset)):
                    accepted[name] = tuple(sorted(known, key=repr))
                elif operator is ast.Eq and isinstance(known, str):
                    accepted.setdefault(name, (known,))
                elif operator is ast.NotEq and isinstance(known, str):
                    refused[name] = (*refused.get(name, ()), known)
    return accepted, refused


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.NotIn: ast.In, ast.NotEq: ast.Eq, ast.Eq: ast.NotEq}


def _tested(step: ast.stmt) -> tuple[str, type[ast.cmpop], ast.expr] | None:
    """Return the field that a statement tests, what must hold of it, and with what it is compared."""
    raises = isinstance(step, ast.If) and bool(step.body) and isinstance(step.body[-1], ast.Raise)
    if not (raises or isinstance(step, ast.Assert)):
        return None
    test = step.test  # type: ignore[attr-defined]  # both have one
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    operator = type(test.ops[0])
    wanted = _OPPOSITE.get(operator) if raises else operator
    left = test.left
    is_field = (
        isinstance(left, ast.Attribute) and isinstance(left.value, ast.Name) and left.value.id == "self"
    )
    return (left.attr, wanted, test.comparators[0]) if is_field and wanted else None  # type: ignore[attr-defined]
