"""DOC008, DOC009: documents in no index, and links to places that no document has."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.files import files_of
from example_sanity.checks.docs.loader import MARKDOWN
from example_sanity.checks.docs.sphinx import Sphinx, names_no_file, sphinx_of
from example_sanity.core.errors import Uninspectable, did_you_mean, nearest
from example_sanity.core.finding import Edit, Fix, Severity, Span
from example_sanity.core.rule import Context, Example, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document, Link
    from example_sanity.core.finding import Finding

_INDEX = ".. toctree::\n\n   a\n"


class MissingFromIndex(DocumentRule):
    """A document of a Sphinx project is in no ``toctree``, or a ``toctree`` names one that is not there.

    Nobody finds such a page from the start page, and Sphinx only warns. Looked at are folders with a ``conf.py`` (its
    ``exclude_patterns`` are read) and those that ``indexed`` of ``[tool.example-sanity.docs]`` names; pages that call
    themselves ``:orphan:``, are included by another page, or are an index themselves need no entry.
    """

    code = "DOC008"
    name = "missing-from-index"
    summary = "a page of the documentation is in no index"
    severity = Severity.WARNING
    bad = (
        Example(
            "B\n=\n", "docs/b.rst", {"docs/conf.py": "", "docs/index.rst": _INDEX, "docs/a.rst": "A\n=\n"}
        ),
        Example(_INDEX, "docs/index.rst", {"docs/conf.py": ""}),
    )
    good = (
        Example("A\n=\n", "docs/a.rst", {"docs/conf.py": "", "docs/index.rst": _INDEX}),
        Example(
            ":orphan:\n\nB\n=\n",
            "docs/b.rst",
            {"docs/conf.py": "", "docs/index.rst": _INDEX, "docs/a.rst": "A\n=\n"},
        ),
    )

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        project = sphinx_of(document.path, context)
        if project is None or document.path not in project.paths:
            return
        yield from self._entries(document, project)
        name = posixpath.basename(document.path).partition(".")[0].lower()
        # The README of the documentation says how to build it.
        exempt = (
            document.orphan or name == "index" or (name == "readme" and document.folder == project.folder)
        )
        if project.has_index and document.path not in project.indexed and not exempt:
            where = project.folder or "."
            yield self.finding(
                document.path, Span(), f"no toctree below {where}/ names this page, so no menu leads to it"
            )

    def _entries(self, document: Document, project: Sphinx) -> Iterator[Finding]:
        for tree in document.toctrees:
            for entry in tree.entries:
                if (
                    set("*?[") & set(entry.text)
                    or "://" in entry.text
                    or entry.text in ("self", "genindex", "modindex")
                ):
                    continue
                if project.target(document, entry.text) is None and not _is_generated(
                    entry.text, document, project
                ):
                    best = _similar(entry.text, document, project)
                    yield self.finding(
                        document.path,
                        entry.span,
                        f"the toctree names {entry.text}, and there is no such page{best}",
                        severity=Severity.ERROR,
                    )


def _is_generated(entry: str, document: Document, project: Sphinx) -> bool:
    """Whether an entry may be written by an extension: nothing stands in its folder."""
    stem = posixpath.normpath(posixpath.join(document.folder, entry))
    folder = posixpath.dirname(stem)
    return not any(posixpath.dirname(path) == folder for path in project.paths)


def _similar(entry: str, document: Document, project: Sphinx) -> str:
    stems = [posixpath.relpath(posixpath.splitext(path)[0], document.folder or ".") for path in project.paths]
    return did_you_mean(entry, stems)


class DeadAnchor(DocumentRule):
    """A link leads to a heading or label that its document does not have.

    Headings get the anchors that GitHub gives them; ``id`` and ``name`` of HTML and labels count, too. ``ref`` roles are
    judged where no extension may add labels from elsewhere.
    """

    code = "DOC009"
    name = "dead-anchor"
    summary = "a link leads to a heading that does not exist"
    severity = Severity.WARNING
    bad = (Example("# Set up\n\nSee [above](#setup).\n", "README.md"),)
    good = (Example("# Set up\n\nSee [above](#set-up).\n", "README.md"),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for link in document.links:
            if link.kind == "ref":
                yield from self._label(link, document, context)
            elif link.kind == "link" and "#" in link.target:
                yield from self._anchor(link, document, context)

    def _anchor(self, link: Link, document: Document, context: Context) -> Iterator[Finding]:
        file, _, anchor = link.target.partition("#")
        target = _target(unquote(file), document, context)
        wanted = unquote(anchor)
        if target is None or not wanted or _is_line(wanted) or wanted.startswith((":~:", "/")):
            return
        if names_no_file(document, wanted, context):
            return
        known = {item.lower() for item in target.anchors}
        if wanted.lower() in known or f"user-content-{wanted.lower()}" in known or wanted in ("top", ""):
            return
        best = nearest(wanted, known, 70)
        better = f"{file}#{best}" if best else None
        fix = None
        if better and _written(document, link.span) == link.target:
            fix = Fix(f"write {better}", (Edit(document.path, link.span, better),), safe=False)
        where = "this document" if not file else target.path
        hint = f"; the nearest is #{best}" if best else ""
        yield self.finding(document.path, link.span, f"{where} has no heading for #{wanted}{hint}", fix=fix)

    def _label(self, link: Link, document: Document, context: Context) -> Iterator[Finding]:
        project = sphinx_of(document.path, context)
        if project is None or any(
            "intersphinx" in name or "autosectionlabel" in name for name in project.extensions
        ):
            return
        label = link.target.lower()
        if (
            not project.extensions
            or label in project.labels
            or label in ("genindex", "modindex", "search", "py-modindex")
        ):
            return
        yield self.finding(
            document.path,
            link.span,
            f"no document has the label {link.target}{did_you_mean(label, project.labels)}",
        )


def _written(document: Document, span: Span) -> str:
    return (
        document.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        if span.line == span.end_line
        else ""
    )


def _is_line(anchor: str) -> bool:
    return anchor.startswith("L") and anchor[1:2].isdigit()


def _target(file: str, document: Document, context: Context) -> Document | None:
    """Return the Markdown document that a link leads to; other kinds get their anchors from a build."""
    if "://" in file or file.startswith(("mailto:", "/")):
        return None
    path = posixpath.normpath(posixpath.join(document.folder, file)) if file else document.path
    if not path.endswith(MARKDOWN) or (file and path not in files_of(context).all):
        return None
    if path == document.path:
        return document
    try:
        (found,) = context.load(Subject.DOCUMENT, path)
    except Uninspectable:
        return None
    return cast("Document", found)
