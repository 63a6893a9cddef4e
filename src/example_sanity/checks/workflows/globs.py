"""GitHub's filter patterns for paths.

Source: GitHub Docs, "Workflow syntax for GitHub Actions", filter pattern cheat sheet: ``*`` stays within a folder, ``**``
does not, ``?`` and ``+`` repeat the character before them, a pattern matches the whole path from the root, the last
pattern that matches decides.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PARTS = regex(r"(?:(?<=/)|^)\*\*/|\*\*+|\*|\[[^\]]+\]|\\.|.", re.DOTALL)
_FIXED = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "?", "+": "+"}
WILD = regex(r"[*?+\[\]]")


def body(pattern: str) -> str:
    """Return a pattern without the ``!`` in front."""
    return pattern.removeprefix("!")


def is_negative(pattern: str) -> bool:
    """Whether a pattern takes back what those above it took in."""
    return pattern.startswith("!")


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Callable[[str], object]:
    """Return a function that says whether a path matches ``pattern`` (without ``!``). Raises re.error for a broken one."""
    expression = "".join(_part(part) for part in _PARTS.findall(pattern))
    return re.compile(expression, re.DOTALL).fullmatch


def _part(part: str) -> str:
    if part.startswith("[") and len(part) > 1:
        return "[" + part[1:-1].replace("\\", "\\\\").replace("^", r"\^") + "]"
    if part.startswith("**") and part != "**/":
        return ".*"
    return _FIXED.get(part) or re.escape(part[1:] if part.startswith("\\") else part)


def is_valid(pattern: str) -> bool:
    """Whether a pattern can be read."""
    try:
        matcher(body(pattern))
    except re.error:
        return False
    return True


def invented(pattern: str) -> tuple[str, ...]:
    """Return paths that a pattern would match if they were there; none for a path, or where that is too involved."""
    text = body(pattern)
    filled = (re.sub(r"\*+", "q0", re.sub(r"\*\*+", deep, text)) for deep in ("q1", "q1/q2"))
    return tuple(path for path in filled if path != text and matcher(text)(path))


def matched(pattern: str, files: Iterable[str]) -> list[str]:
    """Return the files that a pattern matches, of a negative one what it takes back. Raises re.error."""
    match = matcher(body(pattern))
    return [path for path in files if match(path)]


def decides(patterns: Sequence[str], path: str) -> int | None:
    """Return the index of the last pattern that matches a path, None where none does. Raises re.error."""
    for index in range(len(patterns) - 1, -1, -1):
        if matcher(body(patterns[index]))(path):
            return index
    return None


def trunk(pattern: str) -> str:
    """Return the part of a pattern in front of its first wildcard, up to a slash; the whole where it has none."""
    text = body(pattern)
    found = WILD.search(text)
    return text if found is None else text[: found.start()].rpartition("/")[0]


def names_something(pattern: str) -> bool:
    """Whether a pattern names a file or a folder, rather than a kind of file such as ``**/*.ipynb``."""
    return any(part and not WILD.search(part) for part in body(pattern).split("/"))
