"""DOC004: flags in documents that no program of the repository has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.docs.base import DocumentRule, matches, options
from example_sanity.checks.docs.keys import PAST
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Edit, Fix, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project

_FLAG = regex(r"(?<![\w-])--[a-z][a-z0-9]*(?:[-_][A-Za-z0-9]+)+(?![\w*.<{-])")
_DEFINED = regex(rb"add_argument\(\s*(?:[\"']-\w[\"'],\s*)?[\"'](--[a-z][\w-]+)[\"']")
_FILES = {
    "train.py": "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--micro-batch-size')\n"
}


class DocUnknownFlag(DocumentRule):
    """A document speaks of a flag that no program of the repository has, but nearly.

    Looked at are flags in inline code and tables; those of whole commands are judged by the parser of their program
    (DOC002). Flags of other tools are passed over: a flag is reported only where one that a parser of the repository
    defines looks much like it, and where its name occurs in no source of the repository.
    """

    code = "DOC004"
    name = "doc-unknown-flag"
    summary = "a document names a flag that does not exist"
    bad = (Example("Raise `--micro-batchsize`.\n", "README.md", _FILES),)
    good = (Example("Raise `--micro-batch-size`, or pass `--no-cache-dir` to pip.\n", "README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        candidates = list(_candidates(document))
        if not candidates:
            return
        known: Flags = context.once("docs flags", lambda: Flags(context.project))
        foreign = options(context).foreign
        for flag, span in candidates:
            best = known.meant(flag)
            if best is not None and not matches(flag, foreign):
                fix = Fix(f"write {best}", (Edit(document.path, span, best),), safe=False)
                message = f"no program of the repository has a flag {flag}; the nearest is {best}"
                yield self.finding(document.path, span, message, fix=fix)


def _candidates(document: Document) -> Iterator[tuple[str, Span]]:
    for piece in document.codes:
        if piece.span.line != piece.span.end_line or PAST.search(piece.line):
            continue
        for found in _FLAG.finditer(piece.text):
            start = piece.span.column + found.start()
            yield found[0], Span(piece.span.line, start, piece.span.line, start + len(found[0]))


class Flags:
    """The flags that the programs of a project define, and the text in which others may occur."""

    def __init__(self, project: Project) -> None:
        """Read the sources."""
        sources = [path for path in project.files if path.endswith(_SOURCES)]
        self._texts = [project.read(path) for path in sources]
        found = set().union(*(_DEFINED.findall(text) for text in self._texts))
        self.defined = frozenset(name.decode() for name in found)

    def meant(self, flag: str) -> str | None:
        """Return the flag that was probably meant, None for a flag that exists or is another tool's."""
        if flag in self.defined or not self.defined:
            return None
        best = nearest(flag, self.defined, 88)
        return None if best is None or self._occurs(flag[2:]) else best

    def _occurs(self, name: str) -> bool:
        """Whether a name occurs in a source: as a flag, as a field that becomes one, with or without "no-"."""
        words = "[-_]".join(re.escape(word) for word in re.split("[-_]", name.removeprefix("no-")))
        pattern = re.compile(rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])".encode())
        return any(pattern.search(text) for text in self._texts)


_SOURCES = (".py", ".sh", ".yaml", ".yml", ".toml", ".slurm")
