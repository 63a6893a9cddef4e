"""SRC002 and SRC014: public names without a docstring, and names in ``__all__`` that there are none of."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.checks.sources.modules import index_of, names
from example_sanity.checks.sources.names import DEFINITIONS, Defined, Definition, Origin, imports, statements
from example_sanity.core.errors import did_you_mean
from example_sanity.core.finding import Related
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Docstrings
    from example_sanity.core.finding import Finding, Span
    from example_sanity.core.rule import Context

_CONFIG = '[sources.docstrings]\nfiles = ["/pkg/core.py"]\nexports = ["/pkg/"]\n'
# They say again what another definition of the name says.
_REPEATS = {"overload", "setter", "deleter", "override"}


class MissingDocstring(Rule):
    """A public name that needs a docstring has none.

    ``[tool.example-sanity.sources.docstrings]`` says which names: everything public in some files, what modules name in
    ``__all__``, and what some modules import from the repository. An empty docstring is none. Nothing is imported, so
    a docstring that a decorator makes up does not count, and one of a base class only with ``inherited``; overloads,
    setters and overridden methods need none of their own.
    """

    code = "SRC002"
    name = "missing-docstring"
    summary = "a public name has no docstring"
    subject = Subject.PYTHON_SOURCE
    source = (
        "verl tests/special_sanity/check_docstrings.py, check_api_docs.py, validate_imported_docs.py; PEP 257"
    )
    bad = (Example("def train(steps):\n    return steps\n", "pkg/core.py", {"example-sanity.toml": _CONFIG}),)
    good = (
        Example(
            'def train(steps):\n    """Run ``steps`` updates."""\n    return steps\n\n\ndef _helper():\n    pass\n',
            "pkg/core.py",
            {"example-sanity.toml": _CONFIG},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether names of the file, or names that it exports or imports, need docstrings."""
        wanted = base.options(context).docstrings
        return wanted is not None and any(
            base.among(path, patterns) for patterns in (wanted.files, wanted.exports, wanted.imported_by)
        )

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look at the definitions of the file, and follow its exports and imports."""
        assert isinstance(subject, PythonSource)
        wanted = base.options(context).docstrings
        assert wanted is not None
        if base.among(subject.path, wanted.files):
            yield from self._defined(subject)
        follow = _Follow(context, wanted, subject)
        # What a listed file defines was judged above; its exports would be said twice.
        if base.among(subject.path, wanted.exports) and not base.among(subject.path, wanted.files):
            yield from self._followed(follow, follow.exports(), subject, "exported")
        if base.among(subject.path, wanted.imported_by):
            yield from self._followed(follow, follow.imports(), subject, "imported here")

    def _defined(self, subject: PythonSource) -> Iterator[Finding]:
        lines = subject.lines
        for name, node in public(subject.tree):
            if not has_docstring(node):
                kind = "class" if isinstance(node, ast.ClassDef) else "function"
                yield self.finding(
                    subject.path, base.name_span(node, lines), f"{kind} {name} has no docstring"
                )

    def _followed(
        self, follow: _Follow, wanted: Iterable[tuple[str, str, Span]], subject: PythonSource, how: str
    ) -> Iterator[Finding]:
        for path, name, span in wanted:
            found = follow.undocumented(path, name)
            if found:
                dotted, file, defined = found
                place = Related(file, defined.span, "defined here")
                message = f"{defined.kind} {dotted} is {how} and has no docstring"
                yield self.finding(subject.path, span, message, related=(place,))


class UndefinedExport(Rule):
    """A name in ``__all__`` that the module does not define.

    ``from module import *`` fails on it, and so does documentation that follows ``__all__``. A module that makes names
    while it is imported (``__getattr__``, ``globals()``, a star import from outside) is left alone.
    """

    code = "SRC014"
    name = "undefined-export"
    summary = "a name in __all__ is not defined"
    subject = Subject.PYTHON_SOURCE
    source = "Python language reference, 7.11 The import statement"
    bad = (Example('__all__ = ["train", "tran"]\n\n\ndef train():\n    pass\n', "pkg/core.py"),)
    good = (Example('__all__ = ["train"]\n\n\ndef train():\n    pass\n', "pkg/core.py"),)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Compare ``__all__`` with what the module binds, submodules included."""
        assert isinstance(subject, PythonSource)
        if "__all__" not in subject.text:
            return
        found = names(context, subject.path)
        if found is None or found.exports is None or found.open or found.stars:
            return
        index = index_of(context)
        for export in found.exports:
            name = export.name
            if (
                name not in found.bound
                and not index.has_child(subject.path, name)
                and not name.startswith("__")
            ):
                hint = did_you_mean(name, found.bound)
                message = f"__all__ names {name!r}, and the module has no such name{hint}"
                yield self.finding(subject.path, export.span, message)


class _Follow:
    """Finds the definition of a name that a module exports or imports, through the modules that pass it on."""

    def __init__(self, context: Context, wanted: Docstrings, source: PythonSource) -> None:
        self._source = source
        self._context = context
        self._wanted = wanted
        self._index = index_of(context)

    def exports(self) -> Iterator[tuple[str, str, Span]]:
        """Yield file, name and place of each name in ``__all__``."""
        found = names(self._context, self._source.path) if "__all__" in self._source.text else None
        for export in (found.exports if found else None) or ():
            yield self._source.path, export.name, export.span

    def imports(self) -> Iterator[tuple[str, str, Span]]:
        """Yield file, name and place of each name that is imported from a module of the repository."""
        for node, _ in imports(self._source.tree):
            if isinstance(node, ast.ImportFrom):
                path = self._index.find(self._source.path, Origin(node.level, node.module or ""))
                for alias in node.names if path else ():
                    yield path or "", alias.name, base.span_of(alias, self._source.lines)

    def undocumented(self, path: str, name: str) -> tuple[str, str, Defined] | None:
        """Return dotted name, file and definition of a name without docstring; None where it has one or need not."""
        dotted = f"{self._index.module_name(path)}.{name}"
        found = self._definition(path, name)
        if dotted in self._wanted.allow or found is None or self._is_documented(*found):
            return None
        return dotted, *found

    def _is_documented(self, path: str, defined: Defined, depth: int = 8) -> bool:
        if defined.documented or not self._wanted.inherited or depth == 0:
            return defined.documented
        bases = (self._definition(path, name) for name in defined.bases)
        return any(found is not None and self._is_documented(*found, depth - 1) for found in bases)

    def _definition(self, path: str, name: str, depth: int = 8) -> tuple[str, Defined] | None:
        found = names(self._context, path)
        if found is None or depth == 0:
            return None
        if name in found.definitions:
            return path, found.definitions[name]
        if name in found.origins:
            origin, original = found.origins[name]
            target = self._index.find(path, origin)
            return self._definition(target, original, depth - 1) if target else None
        return None


def public(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Yield the public functions, classes and methods of a module with their qualified names, not those inside functions."""
    yield from _public(tree.body, "")


def _public(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
    for node in statements(body):
        if isinstance(node, DEFINITIONS):
            if not node.name.startswith("_") and not _repeats(node):
                yield prefix + node.name, node
            # A private class may be the base of a public one, which then has these methods.
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body, f"{prefix}{node.name}.")


def _repeats(node: Definition) -> bool:
    last = {
        item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "")
        for item in node.decorator_list
    }
    return bool(last & _REPEATS)


def has_docstring(node: Definition) -> bool:
    """Return whether a definition has a docstring that says something."""
    return bool((ast.get_docstring(node) or "").strip())
