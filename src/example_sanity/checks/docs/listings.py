"""DOC006, DOC007: READMEs that list the scripts and folders beside them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.files import Files, files_of
from example_sanity.checks.docs.mentions import is_placeholder
from example_sanity.core.finding import Severity
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document, Piece
    from example_sanity.core.finding import Finding

_ENTRY = regex(r"[\w.-]+(?:/[\w.-]+)*/?")
_FILES = {f"examples/{name}/run_a_fsdp.sh": "python3 train.py\n" for name in ("ppo", "grpo", "remax", "rloo")}
_LIST = "| Dir | For |\n|---|---|\n| `ppo/` | a |\n| `grpo/` | b |\n| `remax/` | c |\n"


class _Found(msgspec.Struct, frozen=True):
    """A listing of what stands in the folder of the document: the entries that are there and those that are not."""

    there: dict[str, Piece]
    ghosts: tuple[Piece, ...]


class _ListingRule(DocumentRule):
    """A rule on the listings of a README."""

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge READMEs and indexes."""
        name = path.rpartition("/")[2].lower()
        return super().applies(path, context) and name.startswith(("readme", "index"))


class UnlistedScript(_ListingRule):
    """A README lists the folders or scripts beside it, but not all of them.

    It counts as a listing when a table or list of it names most of them. What the README mentions anywhere else is no
    finding. New examples that nobody finds are written twice.
    """

    code = "DOC006"
    name = "unlisted-script"
    summary = "a listing of folders or scripts leaves one out"
    severity = Severity.WARNING
    bad = (Example(_LIST, "examples/README.md", _FILES),)
    good = (Example(f"{_LIST}| `rloo/` | d |\n", "examples/README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        files = files_of(context)
        found = _listed(document, files)
        for kind in (_folders, _scripts):
            present = kind(document.folder, files)
            listed = [name for name in found.there if name in present]
            if len(listed) < 3 or len(listed) * 10 < len(present) * 6:
                continue
            last = found.there[listed[-1]]
            left = [name for name in present if name not in found.there and not _mentions(document, name)]
            what = "folder" if kind is _folders else "script"
            for name in left:
                message = (
                    f"the listing leaves out the {what} {name}, though it has {len(listed)} of {len(present)}"
                )
                yield self.finding(document.path, last.span, message)


class GhostEntry(_ListingRule):
    """A README lists a folder or script that is not there.

    Its neighbours in the same table or list are, so it was removed or renamed.
    """

    code = "DOC007"
    name = "ghost-entry"
    summary = "a listing names a folder or script that does not exist"
    bad = (Example(f"{_LIST}| `rlo/` | d |\n", "examples/README.md", _FILES),)
    good = (Example(_LIST, "examples/README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        files = files_of(context)
        for piece in _listed(document, files).ghosts:
            path = posixpath.normpath(posixpath.join(document.folder, piece.text))
            best = files.nearest(path)
            beside = best if best and posixpath.dirname(best) == posixpath.dirname(path) else None
            hint = f"; the nearest is {posixpath.basename(beside)}" if beside else ""
            yield self.finding(
                document.path, piece.span, f"there is no {piece.text} in {document.folder or '.'}/{hint}"
            )


def _listed(document: Document, files: Files) -> _Found:
    """Return the entries of the listings, which are those in which most entries are there."""
    there: dict[str, Piece] = {}
    ghosts: list[Piece] = []
    for listing in document.listings:
        entries = [item for item in listing.entries if _names_something(item.text)]
        found = [item for item in entries if files.holds(_path(document, item.text))]
        if len(found) >= 3 and len(found) * 10 >= len(entries) * 6:
            there.update((item.text.rstrip("/").removeprefix("./").partition("/")[0], item) for item in found)
            ghosts += [
                item
                for item in entries
                if item not in found and not files.is_elsewhere(_path(document, item.text))
            ]
    return _Found(there, tuple(ghosts))


def _names_something(text: str) -> bool:
    """Whether an entry is a folder with its slash or a script, and no placeholder."""
    return (
        bool(_ENTRY.fullmatch(text))
        and text.endswith(("/", ".py", *SHELL_SUFFIXES))
        and not is_placeholder(text)
    )


def _path(document: Document, text: str) -> str:
    return posixpath.normpath(posixpath.join(document.folder, text))


def _folders(folder: str, files: Files) -> list[str]:
    """The folders beside a document that hold scripts, programs or a README."""
    start = f"{folder}/" if folder else ""
    inside = {
        path[len(start) :].partition("/")[0]
        for path in files.all
        if path.startswith(start) and _is_code(path, start)
    }
    return sorted(name for name in inside if not name.startswith((".", "_")))


def _is_code(path: str, start: str) -> bool:
    return "/" in path[len(start) :] and path.endswith((".py", "README.md", *SHELL_SUFFIXES))


def _scripts(folder: str, files: Files) -> list[str]:
    start = f"{folder}/" if folder else ""
    inside = (path[len(start) :] for path in files.all if path.startswith(start))
    return sorted(name for name in inside if "/" not in name and name.endswith(SHELL_SUFFIXES))


def _mentions(document: Document, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", document.text) is not None
