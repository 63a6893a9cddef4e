"""SRC005: how many of the public functions say what they take and return."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.sources import base
from example_sanity.core import changes
from example_sanity.core.errors import Uninspectable, UsageError
from example_sanity.core.finding import Related, Severity, Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Annotations
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context

_CONFIG = '[sources.annotations]\npaths = ["/pkg/"]\nminimum = 0.5\n'
_MOST_SHOWN = 5


class Function(msgspec.Struct, frozen=True):
    """A public function: where its name stands, and what of it has no annotation."""

    path: str
    name: str
    span: Span
    bare: tuple[str, ...]


class AnnotationCoverage(Rule):
    """Too few public functions say what they take and return.

    ``[tool.example-sanity.sources.annotations]`` sets the least share, for all files of ``paths`` (``minimum``), or for
    functions that begin on a line changed since a revision (``changed`` and ``since``). A function counts when every
    parameter and the result has an annotation, keyword-only and starred parameters included; ``self`` and ``cls`` need
    none, nor does the result of ``__init__``. Functions only: assignments do not raise the share. A revision that git does
    not know (a shallow clone) is a warning, not a pass.
    """

    code = "SRC005"
    name = "annotation-coverage"
    summary = "too few functions have annotations"
    subject = Subject.PROJECT
    source = "verl tests/special_sanity/type_coverage_check.py; PEP 484"
    bad = (Example("def train(steps):\n    return steps\n", "pkg/core.py", {"example-sanity.toml": _CONFIG}),)
    good = (
        Example(
            "def train(steps: int) -> int:\n    return steps\n",
            "pkg/core.py",
            {"example-sanity.toml": _CONFIG},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether a share is wanted."""
        return base.options(context).annotations is not None

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Count the functions of all files, and those on changed lines."""
        del subject
        wanted = base.options(context).annotations
        assert wanted is not None
        if wanted.minimum:
            found = list(_functions(context, wanted, None))
            yield from self._judged(found, wanted.minimum, "public functions")
        if wanted.changed and changes.is_checkout(context.project.root):
            yield from self._changed(context, wanted)

    def _changed(self, context: Context, wanted: Annotations) -> Iterator[Finding]:
        context.project.watch(f"revision:{wanted.since}")
        try:
            changed = changes.since(context.project.root, wanted.since)
        except UsageError as error:
            reason = str(error).removeprefix("--changed-since").lstrip(": ")
            message = f"annotations of changed functions were not counted: {reason}"
            yield self.finding(context.config.path or ".", Span(), message, severity=Severity.WARNING)
            return
        found = list(_functions(context, wanted, changed))
        yield from self._judged(found, wanted.changed, f"public functions changed since {wanted.since}")

    def _judged(self, found: list[Function], minimum: float, what: str) -> Iterator[Finding]:
        bare = [item for item in found if item.bare]
        good = len(found) - len(bare)
        if not found or good >= minimum * len(found):
            return
        missing = next(n for n in range(1, len(bare) + 1) if good + n >= minimum * len(found))
        first, others = bare[0], bare[1:_MOST_SHOWN]
        message = (
            f"{good} of {len(found)} {what} have annotations ({good / len(found):.0%}), and {minimum:.0%} are wanted: "
            f"{missing} more, such as {first.name} ({', '.join(first.bare)})"
        )
        related = tuple(
            Related(item.path, item.span, f"{item.name}: no annotation for {', '.join(item.bare)}")
            for item in others
        )
        yield self.finding(first.path, first.span, message, related=related)


def _functions(context: Context, wanted: Annotations, changed: changes.Changes | None) -> Iterator[Function]:
    for path in _files(context.project, wanted):
        # What git says of a file follows from its content, read here or not.
        context.project.watch(f"file:{path}")
        if changed is not None and not changed.touches(path):
            continue
        # A file that does not compile is a finding already, and has no functions to count.
        try:
            (source,) = context.load(Subject.PYTHON_SOURCE, path)
        except Uninspectable:
            continue
        assert isinstance(source, PythonSource)
        for function in functions(source):
            if changed is None or changed.includes(path, function.span.line):
                yield function


def _files(project: Project, wanted: Annotations) -> list[str]:
    return [
        path
        for path in project.files
        if path.endswith(".py") and base.among(path, wanted.paths, wanted.exclude)
    ]


def functions(source: PythonSource) -> Iterator[Function]:
    """Yield the public functions and methods of a module, those inside functions left out."""
    lines = source.lines
    stack: list[ast.AST] = list(reversed(source.tree.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name == "__init__":
                yield Function(source.path, node.name, base.name_span(node, lines), tuple(_bare(node)))
        elif isinstance(node, ast.stmt | ast.excepthandler):
            stack += reversed(list(ast.iter_child_nodes(node)))


def _bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """What of a function has no annotation."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    if plain and plain[0].arg in ("self", "cls"):
        plain = plain[1:]
    for argument in (*plain, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None and argument.annotation is None:
            yield argument.arg
    if node.returns is None and node.name != "__init__":
        yield "its result"
