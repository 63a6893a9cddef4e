"""DOC010: Python snippets whose imports the repository does not have."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.mentions import is_placeholder
from example_sanity.core.errors import Uninspectable, did_you_mean
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Block, Document
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project

_PYTHON = frozenset({"python", "python3", "py", "pycon", "ipython", "ipython3"})
_IMPORT = regex(
    r"[ \t]*(?:from\s+[\w.]+\s+import\s+(?:\([^)]*\)|[^\n(]+)|import\s+[\w., ]+(?:\s+as\s+\w+)?)[ \t]*(?:#.*)?"
)
_FILES = {"app/__init__.py": "", "app/data.py": "def load(): ...\n"}


class UnimportableSnippet(DocumentRule):
    """A Python snippet imports something from a package of the repository that is not there.

    Modules and the names in them are looked up in the source; nothing is imported. A module that takes in everything
    (``from x import *``), or answers for names itself (``__getattr__``), may have any name.
    """

    code = "DOC010"
    name = "unimportable-snippet"
    summary = "a Python snippet imports what the repository does not have"
    bad = (Example("```python\nfrom app.data import loads\n```\n", "README.md", _FILES),)
    good = (Example("```python\nfrom app.data import load\nimport numpy\n```\n", "README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for block in document.blocks:
            if block.language not in _PYTHON:
                continue
            for wanted in _imports(block):
                message = _problem(wanted, context)
                if message:
                    yield self.finding(document.path, wanted.span, message)


class _Wanted(NamedTuple):
    module: str
    name: str | None
    span: Span


def _imports(block: Block) -> Iterator[_Wanted]:
    """Yield what a snippet imports, also where the rest of it is no Python."""
    text = "\n".join(re.sub(r"^\s*(?:>>>|\.\.\.)\s?", "", line.text) for line in block.lines)
    for found in _IMPORT.finditer(text):
        if found.start() and text[found.start() - 1] != "\n":
            continue
        row = text.count("\n", 0, found.start())
        line = block.lines[row]
        try:
            (node,) = ast.parse(textwrap.dedent(found[0])).body
        except (SyntaxError, ValueError):
            continue
        span = Span(line.line, line.column, line.line, line.column + len(line.text))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (_Wanted(node.module, alias.name, span) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (_Wanted(alias.name, None, span) for alias in node.names)


def _problem(wanted: _Wanted, context: Context) -> str | None:
    modules: Modules = context.once("docs modules", lambda: Modules(context.project))
    if not modules.is_ours(wanted.module) or is_placeholder(wanted.module.replace(".", "/")):
        return None
    if not modules.has(wanted.module):
        hint = did_you_mean(wanted.module, modules.beside(wanted.module))
        return f"there is no module {wanted.module} in the repository{hint}"
    if wanted.name in (None, "*") or modules.has(f"{wanted.module}.{wanted.name}"):
        return None
    names = _names(wanted.module, modules, context)
    if names is None or wanted.name in names:
        return None
    return f"{wanted.module} has no {wanted.name}{did_you_mean(str(wanted.name), names)}"


def _names(module: str, modules: Modules, context: Context) -> frozenset[str] | None:
    path = modules.file(module)
    if path is None:
        return None
    found: frozenset[str] | None = context.once(f"docs names {path}", lambda: names_of(context.project, path))
    return found


class Modules:
    """The Python modules of a project, by their dotted names."""

    def __init__(self, project: Project) -> None:
        """Look at the files: packages stand in the root or in ``src``."""
        self._files: dict[str, str] = {}
        packages = {path.rpartition("/")[0] for path in project.all_files if path.endswith("/__init__.py")}
        for path in project.all_files:
            inner = path.removeprefix("src/")
            top = path[: len(path) - len(inner)] + inner.partition("/")[0]
            if path.endswith(".py") and "/" in inner and top in packages:
                self._files[inner.removesuffix(".py").replace("/", ".").removesuffix(".__init__")] = path
        self._all = {
            ".".join(name.split(".")[:count])
            for name in self._files
            for count in range(1, name.count(".") + 2)
        }
        self.tops = frozenset(name.partition(".")[0] for name in self._files)

    def is_ours(self, module: str) -> bool:
        """Return whether a module must be one of the project."""
        return module.partition(".")[0] in self.tops

    def has(self, module: str) -> bool:
        """Return whether there is such a module, or package without ``__init__.py``."""
        return module in self._all

    def file(self, module: str) -> str | None:
        """Return the file of a module."""
        return self._files.get(module)

    def beside(self, module: str) -> list[str]:
        """Return the modules of the same name, or those of the package that a module should be in."""
        same = [name for name in self._all if name.rpartition(".")[2] == module.rpartition(".")[2]]
        parent = module.rpartition(".")[0]
        return sorted(same or (name for name in self._all if name.rpartition(".")[0] == parent))


def names_of(project: Project, path: str) -> frozenset[str] | None:
    """Return the names that a module has at its top level; None where they cannot be told."""
    try:
        tree = ast.parse(project.text(path))
    except (SyntaxError, ValueError, Uninspectable):
        return None
    names: set[str] = set()
    for node in _top_level(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            names.update(
                item.id
                for item in ast.walk(node)
                if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
            )
    return None if "*" in names or "__getattr__" in names or _sets_globals(tree) else frozenset(names)


def _sets_globals(tree: ast.Module) -> bool:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        isinstance(call.func, ast.Name) and call.func.id in ("globals", "setattr", "exec") for call in calls
    )


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those in its ``if``, ``try``, ``with`` and loops included."""
    stack: list[ast.stmt] = list(tree.body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            stack += getattr(node, name, [])
        stack += [item for handler in getattr(node, "handlers", []) for item in handler.body]
