"""The paths that a document names, outside its links: in inline code, in commands and in running text."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from example_sanity.checks.docs.making import made_files
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.files import Files
    from example_sanity.checks.docs.model import Block, Document
    from example_sanity.launch.quoted import QuotedCommand

# A path begins behind white space, a quote or an "="; what has a scheme, a home, a variable or a root is not of this project.
_PATH = regex(
    r"(?<![\w./$}{~@:<>%*|+\\-])(?:\.{1,2}/)*[A-Za-z0-9_.][\w.+-]*(?:/[\w.+*?{},\[\]-]+)+/?(?![\w<>$@{(/]|://)"
)
_LONGEST = 4096  # PATH_MAX of Linux
_PLACEHOLDER = regex(
    r"path[_/-]?to|your[_-]|(?:^|[/_.-])(?:xxx?|foo|bar|baz|foobar|xyz|dummy|test_example|made_up\w*|example_name|my_\w+|some_\w+|new_\w+)(?:[/_.-]|$)|\.\.\."
    r"|(?:^|/)[xyzXYZ]{1,3}(?:\.\w+)?(?:/|$)|[A-Z]{2,}_[A-Z]+|YYYY|\{[^{},]*\}",
)
SUFFIXES = frozenset(
    [
        "py",
        "sh",
        "bash",
        "slurm",
        "sbatch",
        "md",
        "rst",
        "yaml",
        "yml",
        "ipynb",
        "txt",
        "toml",
        "cfg",
        "ini",
        "json",
        "jsonl",
        "png",
        "jpg",
        "jpeg",
        "svg",
        "gif",
        "dockerfile",
        "in",
        "cpp",
        "cu",
        "h",
        "cuh",
        "patch",
        "diff",
        "js",
        "css",
        "html",
        "csv",
    ]
)
# What a command after these words makes or fetches need not be there.
_MAKERS = frozenset(
    {"mkdir", "touch", "wget", "curl", "tee", "rm", "ln", "git", "docker", "tar", "unzip", "echo"}
)


class Mention(msgspec.Struct, frozen=True):
    """A path that a document names, and where.

    ``bases`` are the folders that it may be relative to: those entered by ``cd``, that of the document, those above it.
    ``home`` is the folder of the document. ``place`` is ``code``, ``command`` or ``prose``.
    """

    path: str
    span: Span
    bases: tuple[str, ...]
    home: str
    place: str

    @property
    def suffix(self) -> str:
        """The ending in small letters, where it is that of a kind of file."""
        ending = self.path.rstrip("/").rpartition("/")[2].rpartition(".")[2].lower()
        return ending if ending in SUFFIXES and "." in self.path else ""


def mentions(document: Document, files: Files) -> Iterator[Mention]:
    """Yield the paths that a document names, placeholders left out."""
    where = _Where(ancestors(document.folder), document.folder)
    made = made_files(document)
    for item in _all_mentions(document, where, files):
        if posixpath.normpath(item.path) not in made:
            yield item


def _all_mentions(document: Document, where: _Where, files: Files) -> Iterator[Mention]:
    for piece in document.codes:
        yield from _found(piece.text, piece.span, where, "code")
    for line in document.prose:
        yield from _found(line.text, Span(line.line, line.column, line.line, line.column), where, "prose")
    for block in document.blocks:
        if block.is_shell:
            yield from _in_commands(block, where, files)


class _Where(NamedTuple):
    bases: tuple[str, ...]
    home: str


def ancestors(folder: str) -> tuple[str, ...]:
    """Return a folder and those above it, the root (empty) last."""
    found = [folder] if folder else []
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return (*found, "")


_SCRIPT = regex(r"[A-Za-z0-9][\w.-]+\.(?:sh|bash|slurm|sbatch)")


def bare_names(document: Document) -> Iterator[Mention]:
    """Yield the scripts that a document names without a folder, in inline code and in commands that run them."""
    made = made_files(document)
    places = [(piece.text, piece.span) for piece in document.codes]
    for block in document.blocks:
        for command in block.quoted.commands if block.is_shell else ():
            if command.name in ("bash", "sh", "sbatch", "source", ".") or command.name is None:
                places += [(word.text, word.span) for word in command.words[1:2] if word.fixed]
    for text, span in places:
        if _SCRIPT.fullmatch(text) and text not in made and not is_placeholder(text):
            yield Mention(text, span, ("",), document.folder, "bare")


def _found(text: str, span: Span, where: _Where, place: str) -> Iterator[Mention]:
    for found in _PATH.finditer(text):
        path = found[0].rstrip(".,")
        if len(path) <= _LONGEST and not is_placeholder(path):
            column = span.column + found.start()
            yield Mention(path, Span(span.line, column, span.line, column + len(path)), *where, place)


def is_placeholder(path: str) -> bool:
    """Return whether a path stands for one that the reader has to fill in."""
    return _PLACEHOLDER.search(path) is not None


def _in_commands(block: Block, where: _Where, files: Files) -> Iterator[Mention]:
    here: tuple[str, ...] = ()
    for command in block.quoted.commands:
        if command.name == "cd" and len(command.words) > 1:
            here = _entered(command, here)
        inside = where._replace(bases=(*here, *where.bases))
        if command.name in _MAKERS or _is_elsewhere(here) or _imports_elsewhere(command, files):
            continue
        for word in (*command.words, *(value for _, value in command.environment)):
            for item in _found(word.text, word.span, inside, "command"):
                if word.fixed:
                    yield item


def _entered(command: QuotedCommand, here: tuple[str, ...]) -> tuple[str, ...]:
    """The folders that the shell may be in after a ``cd``."""
    target = command.words[1]
    if not target.fixed or target.text.startswith(("/", "~")):
        return (_ELSEWHERE,)
    inside = [
        posixpath.normpath(posixpath.join(folder, target.text)) for folder in here if folder != _ELSEWHERE
    ]
    return (*inside, posixpath.normpath(target.text))


_ELSEWHERE = "\0"


def _is_elsewhere(here: tuple[str, ...]) -> bool:
    return _ELSEWHERE in here


def _imports_elsewhere(command: QuotedCommand, files: Files) -> bool:
    """Whether the command runs in another checkout: none of the folders in its PYTHONPATH is here."""
    paths = [value.text for name, value in command.environment if name == "PYTHONPATH"]
    entries = [
        posixpath.normpath(entry) for path in paths for entry in path.split(":") if entry.startswith("./")
    ]
    return bool(entries) and not any(files.holds(entry) for entry in entries)
