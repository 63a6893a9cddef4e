"""SRC009: imports inside the repository that lead nowhere."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.checks.sources.modules import Missing, binds, index_of, names, plain_names
from example_sanity.checks.sources.names import Origin, imports, plain_imports
from example_sanity.core.errors import nearest
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from example_sanity.core.finding import Finding, Span
    from example_sanity.core.rule import Context

_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_FILES = {
    "pkg/__init__.py": "",
    "pkg/kernels/__init__.py": "",
    "pkg/kernels/layout.py": "def build():\n    pass\n",
}


class UnimportableModule(Rule):
    """An import of something in this repository that is not there.

    A module moved, and one that imports it did not hear of it; it shows when that line runs, which may be hours into a
    run. Packages of the repository are read as Python finds them from the importing file: the root, ``src``, the folder above
    the file's outermost package, and ``source-roots`` of the configuration. Where a name may come from elsewhere (a folder without
    ``__init__.py``, a module that makes names while it is imported, something that a build makes) nothing is said, nor
    about imports that a ``try`` or ``TYPE_CHECKING`` guards. ``built`` in the configuration names modules that a build makes.
    """

    code = "SRC009"
    name = "unimportable-module"
    summary = "an import inside the repository leads nowhere"
    subject = Subject.PYTHON_SOURCE
    source = "Python language reference, 5 The import system"
    bad = (
        Example("from pkg.kernels_layout import build\n", "pkg/attention.py", _FILES),
        Example("from pkg.kernels import kernels_layout\n", "pkg/attention.py", _FILES),
    )
    good = (
        Example("from pkg.kernels.layout import build\n", "pkg/attention.py", _FILES),
        Example("try:\n    import pkg.fast\nexcept ImportError:\n    pass\n", "pkg/attention.py", _FILES),
    )

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Follow every import."""
        assert isinstance(subject, PythonSource)
        # To parse a file takes far longer than to follow its imports, and nearly all lead somewhere.
        plain = plain_imports(subject.text)
        if plain is not None and not any(
            fault for node in plain for fault in _faults(node, subject.path, context)
        ):
            return
        for node, around in imports(subject.tree):
            faults = list(_faults(node, subject.path, context))
            if faults and not any(_guards(item) for item in around) and not _is_asked_for(node, subject.text):
                for alias, message in faults:
                    yield self.finding(subject.path, _span(alias, node, subject.lines), message)


def _faults(
    node: ast.Import | ast.ImportFrom, path: str, context: Context
) -> Iterator[tuple[ast.alias | None, str]]:
    index = index_of(context)
    if isinstance(node, ast.Import):
        for alias in node.names:
            missing = index.missing(path, Origin(0, alias.name))
            if missing:
                yield alias, _message(missing, context)
        return
    origin = Origin(node.level, node.module or "")
    missing = index.missing(path, origin)
    if missing:
        yield None, _message(missing, context, [alias.name for alias in node.names])
        return
    files = index.candidates(path, origin)
    for alias in node.names:
        lacking = index.missing_name(path, origin, alias.name) if alias.name != "*" else None
        if lacking and not any(binds(context, file, alias.name) for file in files):
            yield alias, _name_message(lacking, files, context)


def _message(missing: Missing, context: Context, wanted: Sequence[str] = ()) -> str:
    index = index_of(context)
    where = f"{missing.folder}/" if missing.folder else "the root"
    if f"{missing.folder}.py" in context.project.all_files:
        return f"there is no module {missing.name}: {missing.folder}.py is a module and no package"
    hint = _home(missing, context, wanted) or _nearest_module(
        missing, context, index.children(missing.folder)
    )
    return f"there is no module {missing.name} in {where}{hint}"


def _home(missing: Missing, context: Context, wanted: Sequence[str]) -> str:
    """A hint at the one module of the same folder, or below, that has all the names that are imported."""
    names = set(wanted) - {"*"}
    below = [
        path
        for path in context.project.all_files
        if path.endswith(".py") and path.startswith(f"{missing.folder}/")
    ]
    homes = [path for path in below if names and names <= plain_names(context, path)]
    return f" ({homes[0]} is {_dotted(homes[0], missing, context)})" if len(homes) == 1 else ""


def _dotted(path: str, missing: Missing, context: Context) -> str:
    """The name of a module, from where the import found the package that lacks one."""
    package = missing.folder.replace("/", ".")
    dotted = missing.name.rpartition(".")[0]
    inner = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if dotted and package.endswith(dotted) and inner.startswith(f"{package}."):
        return inner[len(package) - len(dotted) :]
    return index_of(context).module_name(path)


def _name_message(missing: Missing, files: Sequence[str], context: Context) -> str:
    found = names(context, files[0]) if files else None
    hint = nearest(missing.part, found.bound, cutoff=80) if found else None
    said = f" (did you mean {hint!r}?)" if hint else _nearest_module(missing, context, ())
    if not files:
        return f"there is no module {missing.part!r} in {missing.folder}/{said}"
    return f"{files[0]} has neither a name nor a module {missing.part!r}{said}"


def _nearest_module(missing: Missing, context: Context, siblings: Iterable[str]) -> str:
    """A hint at the module that is probably meant: one near by of a like name, else one of the same words anywhere."""
    best = nearest(missing.part, siblings, cutoff=80)
    if best:
        return f" (did you mean {best!r}?)"
    stem = missing.part
    files = [path for path in context.project.all_files if path.endswith(".py")]
    wanted = [path for path in files if _tail(path) in (stem, f"{stem}/__init__")]
    # A module that moved into a package often gives up the words that the package says now.
    wanted = wanted or [path for path in files if stem.endswith(f"_{_tail(path)}") and missing.folder in path]
    if not wanted:
        return ""
    shown = min(wanted, key=lambda path: (not path.startswith(missing.folder), -len(_tail(path)), path))
    return f" ({shown} is {_dotted(shown, missing, context)})"


def _tail(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]


def _guards(node: ast.AST) -> bool:
    """Whether a statement around an import expects that it may fail, or is never run."""
    # What stands in the handler of an ImportError is for another version of something.
    if isinstance(node, ast.ExceptHandler):
        return _catches(node.type)
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)
        return "TYPE_CHECKING" in test and not test.startswith("not ")
    if isinstance(node, ast.With):
        return any(re.search(r"suppress\(|raises\(", ast.unparse(item.context_expr)) for item in node.items)
    return any(_catches(handler.type) for handler in getattr(node, "handlers", ()))


def _catches(kind: ast.expr | None) -> bool:
    return kind is None or any(name in ast.unparse(kind) for name in _CATCHES)


def _is_asked_for(node: ast.Import | ast.ImportFrom, text: str) -> bool:
    """Whether pytest is told to skip the file where the module is missing."""
    tops = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    skips = re.findall(r"importorskip\(\s*[\"']([\w.]+)", text)
    return any(top == skip or top.startswith(f"{skip}.") for top in tops for skip in skips)


def _span(alias: ast.alias | None, node: ast.Import | ast.ImportFrom, lines: Sequence[str]) -> Span:
    return base.span_of(node if alias is None else alias, lines)
