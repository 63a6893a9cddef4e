"""Regular expressions that are compiled when they are first used: there are hundreds, and a run over one file needs few."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub", "subn")


class _Regex:
    """Stands in for ``re.compile(pattern, flags)``. Once used, its methods are those of the compiled pattern."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Only called for what the instance has not: each method once, before it is there.
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern of a module: as ``re.compile``, but a mistake in it shows when it is first used."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
