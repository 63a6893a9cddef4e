"""Gitignore-style patterns as one regular expression; pathspec is imported for those with negations, sets and escapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PART = r"(?:\*\*|(?:[\w.+@=,~-]|\*(?!\*)|\?)+)"
_PLAIN = regex(rf"/?{_PART}(?:/{_PART})*/?(?<!\*\*/)")


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether patterns name a file, as git would. Raises ValueError for a broken one."""
    lines = tuple(patterns)
    if not all(map(_is_plain, lines)):
        import pathspec

        return pathspec.GitIgnoreSpec.from_lines(lines).match_file
    match = re.compile("|".join(map(_translated, lines)) or r"(?!)").fullmatch
    return lambda path: match(path) is not None


def _is_plain(pattern: str) -> bool:
    return _PLAIN.fullmatch(pattern) is not None and {".", ".."}.isdisjoint(pattern.split("/"))


def _translated(pattern: str) -> str:
    """The regular expression of a plain pattern, for the paths of files."""
    parts = pattern.strip("/").split("/")
    anchored = "/" in pattern.rstrip("/")
    text = "" if anchored else "(?:.+/)?"
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            text += ".+" if last else "(?:.+/)?"
        else:
            text += "".join({"*": "[^/]*", "?": "[^/]"}.get(letter) or re.escape(letter) for letter in part)
            text += ("/.+" if pattern.endswith("/") else "(?:/.+)?") if last else "/"
    return text
