"""Python source below a set of roots: found, parsed and asked for names, but never imported."""

from __future__ import annotations

import ast
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_MOST_BYTES = 4_000_000


class Module:
    """One source file. ``path`` is relative to its root; ``name`` is dotted, ``__main__`` for an entry file."""

    def __init__(self, name: str, file: Path, root: Path, data: bytes, tree: ast.Module) -> None:
        self.name = name
        self.file = file
        self.path = file.relative_to(root).as_posix()
        self.tree = tree
        self.text = data.decode("utf-8", "replace")
        self.digest = hashlib.sha256(data).hexdigest()
        self.is_package = file.name == "__init__.py"

    @cached_property
    def bindings(self) -> dict[str, list[ast.AST]]:
        """What each name of the module may be: the statements that bind it, in order."""
        found: dict[str, list[ast.AST]] = {}
        for statement in _statements(self.tree.body):
            for name in _bound(statement):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The ``from x import *`` of the module."""
        return [node for node in self.bindings.get("*", ()) if isinstance(node, ast.ImportFrom)]

    def absolute(self, module: str | None, level: int) -> str:
        """Return the dotted name that an import of this module means."""
        if not level:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + (1 if self.is_package else 0)]
        return ".".join([*kept, *([module] if module else [])])

    def segment(self, node: ast.AST) -> str:
        """Return the source lines of a statement."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        return "\n".join(self._lines[first - 1 : last])

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, without those inside functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Import):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = (node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
        yield from (node.id for node in names)


class Sources:
    """The modules below ``roots``, which are searched in order, as Python searches ``sys.path``."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self._modules: dict[str, Module | None] = {}
        self.opened: dict[Path, str] = {}

    def find(self, name: str) -> Module | None:
        """Return a module by its dotted name; None when it is not here or is no Python that we can parse."""
        if name not in self._modules:
            self._modules[name] = self._find(name)
        return self._modules[name]

    def _find(self, name: str) -> Module | None:
        for root in self.roots:
            base = root.joinpath(*name.split("."))
            for file in (base / "__init__.py", base.with_name(base.name + ".py")):
                if file.is_file():
                    return self.open(file, root, name)
        return None

    def is_package(self, name: str) -> bool:
        """Whether a dotted name is a folder of modules, with an ``__init__.py`` or without."""
        return bool(name) and any(root.joinpath(*name.split(".")).is_dir() for root in self.roots)

    def open(self, file: Path, root: Path, name: str) -> Module | None:
        """Parse a file; None when it cannot be read or parsed."""
        try:
            data = file.read_bytes()
            tree = ast.parse(data) if len(data) <= _MOST_BYTES else None
        except (OSError, SyntaxError, ValueError, RecursionError):
            tree = None
        if tree is None:
            return None
        module = Module(name, file, root, data, tree)
        self.opened[file] = module.digest
        return module
