"""What the family ``docs`` may be told."""

from __future__ import annotations

import msgspec

HISTORICAL = (
    "CHANGELOG*",
    "CHANGES*",
    "HISTORY*",
    "NEWS*",
    "RELEASE*",
    "**/*release*note*",
    "**/*changelog*",
    "**/blog/**",
    "**/blogs/**",
    "**/archive/**",
    "**/archived/**",
)


class DocsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.docs]``. All are gitignore-style patterns, relative to the root.

    ``historical`` documents tell of the past and are not judged. ``foreign`` paths belong to another repository or to the
    machine of the reader. ``dated`` documents carry a "Last updated" line, ``undated`` ones among them need none.
    ``indexed`` folders are documentation whose pages must be in an index; without it those that hold a ``conf.py``.
    """

    historical: tuple[str, ...] = HISTORICAL
    foreign: tuple[str, ...] = ()
    dated: tuple[str, ...] = ()
    undated: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
