"""The documents of a Sphinx project together: which are in an index, and what references in them may name."""

from __future__ import annotations

import ast
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING, cast

from example_sanity.checks.docs.base import matches, options
from example_sanity.checks.docs.loader import MARKDOWN, RST
from example_sanity.checks.docs.mentions import SUFFIXES, ancestors
from example_sanity.core.errors import Uninspectable
from example_sanity.core.patterns import Syntax, predicate
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document

_LABEL = regex(r"^[ \t]*\.\. _([^:\n]+):[ \t]*$|^\(([^)\n]+)\)=[ \t]*$", re.MULTILINE)
_INCLUDE = regex(r"(?:^[ \t]*\.\. include::|\{include\})[ \t]*(\S+)", re.MULTILINE)
_OBJECT = regex(r"[A-Za-z_]\w*(?:\.\w+)+")
_SUFFIXES = (*RST, *MARKDOWN, ".ipynb")
# A project that moved to MkDocs often keeps a conf.py for something else.
_MKDOCS = ("mkdocs.yml", "mkdocs.yaml")


class Sphinx:
    """A folder with a ``conf.py``, or one that the options call documentation."""

    def __init__(self, folder: str, context: Context) -> None:
        """Read its documents."""
        self.folder = folder
        self._context = context
        self.excluded, self.extensions = _configuration(folder, context)
        start = f"{folder}/" if folder else ""
        self.paths = frozenset(
            path
            for path in context.project.all_files
            if path.startswith(start)
            and path.endswith(_SUFFIXES)
            and not self._is_excluded(path[len(start) :])
        )
        self._texts = {path: _read(path, context) for path in sorted(self.paths)}
        indexes = [document for path in self._texts if (document := self._index(path))]
        self.has_index = bool(indexes)
        self.indexed = {
            target for document in indexes for target in self._entries(document)
        } | self._included()

    @cached_property
    def labels(self) -> frozenset[str]:
        """What ``ref`` roles may name, in small letters."""
        return frozenset(name for text in self._texts.values() for name in _labels(text))

    def _index(self, path: str) -> Document | None:
        """The document where it has a toctree; the others need not be parsed."""
        document = self._load(path) if "toctree" in self._texts[path] else None
        return document if document and document.toctrees else None

    def _load(self, path: str) -> Document | None:
        try:
            (found,) = self._context.load(Subject.DOCUMENT, path)
        except Uninspectable:
            return None
        return cast("Document", found)

    def _is_excluded(self, inside: str) -> bool:
        names = [inside, *(inside[:at] for at, sign in enumerate(inside) if sign == "/")]
        return any(predicate(pattern, Syntax.GLOB)(name) for pattern in self.excluded for name in names)

    def target(self, document: Document, entry: str) -> str | None:
        """Return the document that an entry or a ``doc`` role names, None where there is none."""
        base = self.folder if entry.startswith("/") else document.folder
        stem = posixpath.normpath(posixpath.join(base, entry.lstrip("/")))
        names = (stem, *(f"{stem}{suffix}" for suffix in _SUFFIXES))
        return next((name for name in names if name in self.paths), None)

    def _entries(self, document: Document) -> set[str]:
        found: set[str] = set()
        for tree in document.toctrees:
            for entry in tree.entries:
                pattern = posixpath.normpath(posixpath.join(document.folder, entry.text))
                if tree.globbed and set("*?[") & set(entry.text):
                    match = predicate(pattern, Syntax.GLOB)
                    found.update(
                        path for path in self.paths if match(posixpath.splitext(path)[0]) or match(path)
                    )
                elif target := self.target(document, entry.text):
                    found.add(target)
        return found

    def _included(self) -> set[str]:
        found = set()
        for path, text in self._texts.items():
            for match in _INCLUDE.finditer(text):
                stem = posixpath.normpath(posixpath.join(path.rpartition("/")[0], match[1]))
                found.add(stem)
        return found & self.paths


def _read(path: str, context: Context) -> str:
    try:
        return context.project.read(path).decode("utf-8", "replace")
    except Uninspectable:
        return ""


def _labels(text: str) -> Iterator[str]:
    return ((match[1] or match[2]).strip("`").lower() for match in _LABEL.finditer(text))


def names_no_file(document: Document, target: str, context: Context) -> bool:
    """Whether the target of a Markdown link is what MyST looks up before files: a label, or an object of the API."""
    if "/" in target or document.kind != "markdown" or target.rpartition(".")[2].lower() in SUFFIXES:
        return False
    if target.lower() in document.labels or target.lower() in _all_labels(context):
        return True
    project = sphinx_of(document.path, context) if _OBJECT.fullmatch(target) else None
    return project is not None and any("myst" in name for name in project.extensions)


def _all_labels(context: Context) -> frozenset[str]:
    """The labels of all documents: a Jupyter Book has no conf.py that tells where it begins."""

    def read() -> frozenset[str]:
        paths = [path for path in context.project.all_files if path.endswith((*RST, *MARKDOWN))]
        return frozenset(name for path in sorted(paths) for name in _labels(_read(path, context)))

    found: frozenset[str] = context.once("docs labels", read)
    return found


def _configuration(folder: str, context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a ``conf.py`` leaves out and its ``extensions``, as far as they are literals. It is not executed."""
    lists: dict[str, list[str]] = {"exclude_patterns": [], "templates_path": [], "extensions": []}
    path = posixpath.join(folder, "conf.py")
    if path not in context.project.all_files:
        return (), ()
    try:
        tree = ast.parse(context.project.text(path))
    except (SyntaxError, Uninspectable):
        return (), ()
    for node in ast.walk(tree):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AugAssign)
            else []
        )
        for target in targets:
            if (
                isinstance(target, ast.Name)
                and target.id in lists
                and isinstance(node, (ast.Assign, ast.AugAssign))
            ):
                lists[target.id] += _strings(node.value)
    return (*lists["exclude_patterns"], *lists["templates_path"]), tuple(lists["extensions"])


def _strings(node: ast.expr) -> list[str]:
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return [item.value for item in elements if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def sphinx_of(path: str, context: Context) -> Sphinx | None:
    """Return the Sphinx project that a document belongs to, worked out once a run; None below a ``mkdocs.yml``."""
    folder = path.rpartition("/")[0]
    files = context.project.all_files
    if any(posixpath.join(above, name) in files for above in ancestors(folder) for name in _MKDOCS):
        return None
    while True:
        if posixpath.join(folder, "conf.py") in files or (
            folder and matches(folder, options(context).indexed)
        ):
            return _sphinx(folder, context)
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _sphinx(folder: str, context: Context) -> Sphinx:
    found: Sphinx = context.once(f"docs sphinx {folder}", lambda: Sphinx(folder, context))
    return found
