"""Makes the subject of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.finding import Severity
from example_sanity.core.rule import Context, Loaded, Subject
from example_sanity.core.system import UnparsableShell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding

MARKDOWN = (".md", ".markdown")
RST = (".rst", ".rest")
SUFFIXES = (*MARKDOWN, *RST, ".ipynb")


class DocumentLoader:
    """Markdown, reStructuredText and notebooks."""

    subject = Subject.DOCUMENT

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is a document, by its name."""
        del context
        return path.lower().endswith(SUFFIXES)

    def load(self, context: Context, path: str) -> Loaded:
        """Read the document. A block of commands that is none is a problem; raises Uninspectable (SYS001, SYS002)."""
        document = _read(path, context.project.text(path))
        _recall_blocks(document, context)
        return Loaded((document,), tuple(_problems(document)))


def _read(path: str, text: str) -> Document:
    from example_sanity.checks.docs import markdown, notebooks, rst

    if path.lower().endswith(RST):
        return rst.read(path, text)
    if path.lower().endswith(".ipynb"):
        return notebooks.read(path, text)
    return markdown.read(path, text)


def _recall_blocks(document: Document, context: Context) -> None:
    """Read the commands of the blocks that have changed; to read a command takes longer than all else of a document."""
    from example_sanity.launch.quoted import Quoted

    known = context.memory(f"the blocks of {document.path}", dict[str, Quoted])
    used = dict(block.recall(known) for block in document.blocks if block.is_shell and block.lines)
    known.clear()
    known.update(used)


def _problems(document: Document) -> Iterator[Finding]:
    from example_sanity.checks.docs.model import SHELL

    for block in document.blocks:
        for problem in block.quoted.problems if block.language in SHELL else ():
            message = (
                f"a shell cannot read this block from here on, so it was not inspected: {problem.reason}"
            )
            yield UnparsableShell.finding(document.path, problem.span, message, severity=Severity.INFO)
