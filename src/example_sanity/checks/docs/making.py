"""The files that a document has its reader make or fetch; they need not be in the repository."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document

_WRITES = regex(r"(?:>{1,2}|\btee\s+(?:-a\s)?)\s*([\w./\"'-]+)")
_CELL = regex(r"%%writefile\s+(?:-a\s+)?([\w./-]+)")
_FETCH = regex(r"(?<![\w/.-])(wget|curl)\s([^\n|;&]*)")
_WORD = regex(r"\"[^\"]*\"|'[^']*'|[^\s\"']+")
_INTO = {"wget": ("-O", "--output-document"), "curl": ("-o", "--output")}
_FOLDER = ("-P", "--directory-prefix", "--output-dir")
# "Create `run_d.sh` on the decode node.", "Content of the run_d.sh script"
_TOLD = regex(
    r"(?:\b(?:create|creating|save|saved|saving|write|new (?:file|script)|contents? of)\b|\u521b\u5efa|\u65b0\u5efa|\u4fdd\u5b58"
    r"|\u7f16\u5199)[^`.\n]{0,40}?`?((?:[\w.-]+/)*[\w.-]+\.\w+)`?(?![\w/])",
    re.IGNORECASE,
)

# "Example configuration file: `data/mixed.yaml`" above a block that shows what to write
_SHOWN = regex(
    r"^[^`\n]*(?:\bfile|\bexample|\u6587\u4ef6|\u793a\u4f8b)[^`\n]*`([\w./-]+)`[^`\w\n]*\n\s*(?:```|~~~)[ \t]*"
    r"(?:ya?ml|jsonc?|toml|ini|text|txt)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)


def made_files(document: Document) -> frozenset[str]:
    """Return the files that the commands and cells of a document write or fetch, and those that it says to write.

    The paths are as the document gives them, normalized.
    """
    found = {path for block in document.blocks for path in _fetches(block.text)}
    shell = [block.quoted.text for block in document.blocks if block.is_shell]
    found.update(match[1] for text in shell for match in _WRITES.finditer(text))
    found.update(match[1] for match in _SHOWN.finditer(document.text))
    found.update(match[1] for match in _CELL.finditer(document.text))
    found.update(match[1] for line in document.lines for match in _TOLD.finditer(line))
    return frozenset(posixpath.normpath(path.strip("\"'")) for path in found if path.strip("\"'"))


def _fetches(text: str) -> Iterator[str]:
    if "wget" in text or "curl" in text:
        for found in _FETCH.finditer(text.replace("\\\n", " ")):
            yield from _fetched(found[1], [word.strip("\"'") for word in _WORD.findall(found[2])])


def _fetched(program: str, words: list[str]) -> Iterator[str]:
    """Yield where a download ends: the file that is given, else that of the address, in the folder that is given."""
    pairs = dict(pairwise(words))
    given = next((pairs[flag] for flag in _INTO[program] if flag in pairs), None)
    folder = next((pairs[flag] for flag in _FOLDER if flag in pairs), "")
    names = [posixpath.basename(word.partition("?")[0]) for word in words if "/" in word and ":" in word]
    for name in [given] if given else names:
        if name:
            yield posixpath.join(folder, name)
