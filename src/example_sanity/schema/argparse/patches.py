"""Flags that patch files add to a package: a launcher runs against the patched source, which is nowhere to be read."""

from __future__ import annotations

from example_sanity.core.regex import regex

_ADDED = regex(rb"(?m)^\+.*?add_argument\(\s*(?:\n\+\s*)?((?:[\"']-{1,2}[\w.-]+[\"'],?\s*)+)")
_NAME = regex(rb"[\"'](-{1,2}[\w.-]+)[\"']")
# A field of a configuration class, from which some parsers make a flag.
_FIELD = regex(rb"(?m)^\+    ([a-z]\w*): [\w.\[\]| \"',]+(?:=|$)")


def added_flags(patch: bytes) -> list[str]:
    """Return the option strings that the added lines of a patch define, in order."""
    names = [name for found in _ADDED.finditer(patch) for name in _NAME.findall(found[1])]
    fields = [b"--" + name.replace(b"_", b"-") for name in _FIELD.findall(patch)]
    return list(dict.fromkeys(name.decode() for name in (*names, *fields)))
