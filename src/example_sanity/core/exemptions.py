"""Ignore entries: the lines of any list that leave files out, and the findings that they suppress."""

from __future__ import annotations

import enum
import fnmatch
import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Span

if TYPE_CHECKING:
    from collections.abc import Iterable


class Syntax(str, enum.Enum):
    """How an entry names files."""

    PATH = "path"  # a file, or a folder and all below it, relative to the root
    GLOB = "glob"  # fnmatch over the whole path; * crosses slashes
    GITIGNORE = "gitignore"  # as in .gitignore
    REGEX = "regex"  # re.search over the path, as in pre-commit


class Entry(msgspec.Struct, frozen=True):
    """One line of an ignore list.

    ``list_name`` is what people call the list ("per-file-ignore", "DEFAULT_IGNORE_FILES"); ``path`` and ``span`` are
    where the entry is written. ``rules`` are the codes whose findings it suppresses in the files that it names; empty
    for lists that belong to other tools. ``wants_reason`` says that the list wants one.
    """

    pattern: str
    syntax: Syntax
    list_name: str
    path: str
    span: Span = Span()
    rules: frozenset[str] = frozenset()
    reason: str = ""
    wants_reason: bool = False

    def match(self, files: Iterable[str]) -> list[str]:
        """Return the files that the entry names. Raises re.error for a broken regular expression."""
        return list(_MATCHERS[self.syntax](self.pattern, files))


def _match_path(pattern: str, files: Iterable[str]) -> list[str]:
    bare = pattern.removeprefix("./").rstrip("/")
    return [path for path in files if path == bare or path.startswith(bare + "/") or bare in ("", ".")]


def _match_glob(pattern: str, files: Iterable[str]) -> list[str]:
    compiled = re.compile(fnmatch.translate(pattern))
    return [path for path in files if compiled.match(path)]


def _match_gitignore(pattern: str, files: Iterable[str]) -> list[str]:
    import pathspec

    return list(pathspec.GitIgnoreSpec.from_lines([pattern]).match_files(files))


def _match_regex(pattern: str, files: Iterable[str]) -> list[str]:
    compiled = re.compile(pattern)
    return [path for path in files if compiled.search(path)]


_MATCHERS = {
    Syntax.PATH: _match_path,
    Syntax.GLOB: _match_glob,
    Syntax.GITIGNORE: _match_gitignore,
    Syntax.REGEX: _match_regex,
}
