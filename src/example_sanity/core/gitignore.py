"""Gitignore-style patterns. Most are a path, a folder, a name or a suffix; pathspec is imported for what is more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME = r"[\w.+@=,~-]+"
_PLAIN = regex(rf"\*(?:{_NAME})?|/?{_NAME}(?:/{_NAME})*/?")


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether patterns name a file, as git would. Raises ValueError for a broken one."""
    lines = tuple(patterns)
    tests = [_plain(line) for line in lines]
    known = [test for test in tests if test is not None]
    if len(known) < len(tests):
        import pathspec

        return pathspec.GitIgnoreSpec.from_lines(lines).match_file
    return lambda path: any(test(path) for test in known)


def _plain(pattern: str) -> Callable[[str], bool] | None:
    """What a pattern without wildcards, but for a star at its beginning, names; None for any other one."""
    found = _PLAIN.fullmatch(pattern)
    if found is None or not {".", ".."}.isdisjoint(pattern.split("/")):
        return None
    if pattern.startswith("*"):
        end = pattern[1:]
        return lambda path: any(part.endswith(end) for part in path.split("/"))
    bare = pattern.strip("/")
    if "/" not in pattern.rstrip("/"):
        below = f"/{bare}/"
        inside = "" if pattern.endswith("/") else "/"
        return lambda path: below in f"/{path}{inside}"
    start = f"{bare}/"
    if pattern.endswith("/"):
        return lambda path: path.startswith(start)
    return lambda path: path == bare or path.startswith(start)
