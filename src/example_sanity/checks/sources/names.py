"""What a module binds: definitions, names that it passes on from other modules, and what it exports."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.sources import base
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.core.textfiles import PythonSource

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# A module that uses one of these at its top may bind names that no static reading finds.
_MAKES_NAMES = regex(
    r"\b(?:globals|vars|setattr|exec)\(|sys\.modules\[|\b_LazyModule\b|lazy_loader|\b__getattr__\b"
)
# Where a statement may begin, and an import that is written as nearly all are.
_IMPORT_BEGINS = regex(r"(?:^|[;:])\s*(?:from|import)\b", re.MULTILINE)
_NAMED = r"\w+(?:[ \t]+as[ \t]+\w+)?"
_DOTTED = r"\w+(?:\.\w+)*(?:[ \t]+as[ \t]+\w+)?"
_PLAIN_IMPORT = regex(
    rf"^[ \t]*(import[ \t]+{_DOTTED}(?:[ \t]*,[ \t]*{_DOTTED})*|from[ \t]+\.*(?:\w+(?:\.\w+)*)?[ \t]+import[ \t]+"
    rf"(?:\*|{_NAMED}(?:[ \t]*,[ \t]*{_NAMED})*|\((?:[\w\s,]|#[^\n]*\n)*\)))[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE,
)


class Origin(msgspec.Struct, frozen=True):
    """A module as an import names it: the number of leading dots, and the dotted name (maybe empty)."""

    level: int
    module: str

    def __str__(self) -> str:
        """Return the text of the import."""
        return "." * self.level + self.module


class Defined(msgspec.Struct, frozen=True):
    """A function or class at the top of a module: what it is, where its name stands, whether it has a docstring.

    ``bases`` are the names of base classes, dotted ones left out.
    """

    kind: str
    span: Span
    documented: bool
    bases: tuple[str, ...] = ()


class Export(msgspec.Struct, frozen=True):
    """One name of ``__all__`` and where it stands."""

    name: str
    span: Span


class Names(msgspec.Struct, frozen=True):
    """What a module binds at its top.

    ``origins`` says where an imported name comes from and what it is called there. ``stars`` are modules whose
    names all come along. ``exports`` is None where ``__all__`` is not written out. ``open`` says that there may be more.
    """

    bound: frozenset[str]
    definitions: dict[str, Defined]
    origins: dict[str, tuple[Origin, str]]
    stars: tuple[Origin, ...]
    exports: tuple[Export, ...] | None
    open: bool


def names_of(source: PythonSource) -> Names:
    """Return what a module binds, statements in branches included."""
    reader = _Reader(source)
    for node in statements(source.tree.body):
        reader.read(node)
    return Names(
        frozenset(reader.bound),
        reader.definitions,
        reader.origins,
        tuple(reader.stars),
        None if reader.exports is None else tuple(reader.exports),
        _MAKES_NAMES.search(source.text) is not None,
    )


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside their branches, loops and handlers, not those of functions and classes."""
    # With a stack of its own: each elif of a chain is nested in the one before.
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, DEFINITIONS):
            stack += list(blocks(node))[::-1]


def blocks(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements directly inside one."""
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, ())
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from inner.body


class _Reader:
    def __init__(self, source: PythonSource) -> None:
        self._lines = source.lines
        self.bound: set[str] = set()
        self.definitions: dict[str, Defined] = {}
        self.origins: dict[str, tuple[Origin, str]] = {}
        self.stars: list[Origin] = []
        self.exports: list[Export] | None = None

    def read(self, node: ast.stmt) -> None:
        if isinstance(node, DEFINITIONS):
            self._define(node)
        elif isinstance(node, ast.ImportFrom):
            self._import_from(node)
        elif isinstance(node, ast.Import):
            self.bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            self.bound |= set(_targets(node))
            self._export(node)

    def _define(self, node: Definition) -> None:
        self.bound.add(node.name)
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        documented = bool((ast.get_docstring(node) or "").strip())
        bases = tuple(item.id for item in getattr(node, "bases", ()) if isinstance(item, ast.Name))
        self.definitions[node.name] = Defined(kind, base.name_span(node, self._lines), documented, bases)

    def _import_from(self, node: ast.ImportFrom) -> None:
        origin = Origin(node.level, node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(origin)
            else:
                self.bound.add(alias.asname or alias.name)
                self.origins[alias.asname or alias.name] = (origin, alias.name)

    def _export(self, node: ast.stmt) -> None:
        """``__all__ = [...]`` starts the list, ``__all__ += [...]`` goes on with it; anything else makes it unknown."""
        # A call such as __all__.extend() may do anything.
        if isinstance(node, ast.Expr) and any(
            getattr(part, "id", "") == "__all__" for part in ast.walk(node)
        ):
            self.exports = None
        if "__all__" not in _targets(node):
            return
        value = getattr(node, "value", None)
        elements = getattr(value, "elts", None)
        if elements is None or not all(
            isinstance(e, ast.Constant) and isinstance(e.value, str) for e in elements
        ):
            self.exports = None
            return
        found = [Export(str(e.value), base.span_of(e, self._lines)) for e in elements]
        self.exports = [*(self.exports or ()), *found] if isinstance(node, ast.AugAssign) else found


def _targets(node: ast.stmt) -> Iterator[str]:
    """The names that a statement assigns, loop variables and walrus targets included."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr | ast.withitem | ast.pattern):
            for inner in ast.walk(part):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id
                elif isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
                    yield inner.name


def plain_imports(text: str) -> list[ast.Import | ast.ImportFrom] | None:
    """Return every import of a module without parsing the rest; None where one may be written in another way.

    Imports that a string quotes may be among them. Positions are not those of the text.
    """
    # A line that goes on behind a backslash may hold an import, or be the second half of one.
    if "\r" in text or re.search(r"\b(?:from|import)\b[^\n]*\\\n|\\\n\s*(?:from|import)\b", text):
        return None
    plain = [found[1] for found in _PLAIN_IMPORT.finditer(text)]
    if len(plain) != sum(1 for _ in _IMPORT_BEGINS.finditer(text)):
        return None
    try:
        body = ast.parse("\n".join(plain)).body
    except SyntaxError:
        return None
    return [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, tuple[ast.AST, ...]]]:
    """Yield every import of a module with the statements that may guard it, outermost first."""
    stack: list[tuple[ast.stmt, tuple[ast.AST, ...]]] = [(node, ()) for node in reversed(tree.body)]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, around
        else:
            stack += reversed([(inner, outer) for inner, outer in _inside(node, around)])


def _inside(node: ast.stmt, around: tuple[ast.AST, ...]) -> Iterator[tuple[ast.stmt, tuple[ast.AST, ...]]]:
    """The statements in another one, with what guards them: the rest of an ``if`` or a ``try`` guards only its body."""
    guarded = (*around, node)
    if isinstance(node, DEFINITIONS) or not hasattr(node, "orelse"):
        yield from ((inner, guarded) for inner in blocks(node))
        return
    yield from ((inner, guarded) for inner in getattr(node, "body", ()))
    for handler in getattr(node, "handlers", ()):
        yield from ((inner, (*around, handler)) for inner in handler.body)
    yield from ((inner, around) for inner in (*node.orelse, *getattr(node, "finalbody", ())))
