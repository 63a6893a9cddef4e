"""Which variable of the environment decides the value of a shell variable, statement by statement."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.launch.syntax import Assignment

_COPY = regex(r'"?\$(?:\{([A-Za-z_]\w*|\d+)\}|([A-Za-z_]\w*|\d))"?')

_REMEMBERED = 100


class History:
    """The assignments of each name, and what is known of them before a place in the script.

    Places must be asked for in ascending order.
    """

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self.reach = Reach()
        self._pending = list(assignments)[::-1]
        self._own: dict[str, deque[Assignment]] = {}

    def advance(self, place: int) -> None:
        """Take the assignments into account that end before a byte offset."""
        while self._pending and self._pending[-1].end <= place:
            item = self._pending.pop()
            self._own.setdefault(item.name, deque(maxlen=_REMEMBERED)).append(item)
            self.reach.note(item)

    def of(self, name: str) -> Sequence[Assignment]:
        """Return the assignments of a name so far, in order (the last hundred)."""
        return self._own.get(name, ())


class Reach:
    """The environment name behind each shell name; a name that was never assigned stands for itself.

    An assignment that may not run changes nothing: the environment can still decide on the other path.
    """

    def __init__(self) -> None:
        self._behind: dict[str, str | None] = {}

    def of(self, name: str) -> str | None:
        """Return the environment name that decides ``name``, or None when the script has cut it off."""
        return self._behind.get(name, name)

    def cut(self, name: str) -> None:
        """``name`` has a value of the script's own from here on."""
        self._behind[name] = None

    def note(self, item: Assignment) -> None:
        """Take an assignment into account."""
        if item.conditional or item.function or item.append:
            return
        copied = source_of(item.value)
        if copied:
            self._behind[item.name] = self.of(copied)
        elif item.kind is not DefaultKind.FIXED:
            self._behind[item.name] = item.via
        # A value made of something that the environment decides is still decided by it, in part.
        elif all(self.of(name) is None for name in item.reads):
            self.cut(item.name)


def source_of(value: str) -> str | None:
    """Return the variable that a value copies (``$X``, ``"${X}"``), or None."""
    copied = _COPY.fullmatch(value)
    return (copied[1] or copied[2]) if copied else None
