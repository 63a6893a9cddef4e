"""Remembers, for each thing that a run works out, what it looked at and what it stumbled over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.core.errors import Uninspectable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from example_sanity.core.finding import Finding

# What a computation may look at: "file:PATH", "callers:PATH" (which files mention its name),
# "place:PATH" (a file or folder that is not listed, and what is below it),
# "revision:NAME" (the commit at which it and HEAD parted) and these.
LISTING = "listing"  # which files there are
SCRIPTS = "scripts"  # the listing and all shell scripts
GIT_RULES = "git rules"  # the listing and what git ignores
PLACES = "places"  # what is not listed, where links lead and what is executable
NAMED = "named"  # the paths of the call
MOMENT = "moment"  # something that no file tells, and that may be different each time
TODAY = "today"  # the date


class Outcome(msgspec.Struct, frozen=True):
    """What a computation gave: its value or its error, the problems that it met, and the names of its inputs."""

    value: Any
    problems: tuple[Finding, ...] = ()
    error: Uninspectable | None = None
    inputs: frozenset[str] = frozenset()

    def get(self) -> Any:
        """Return the value. Raises the error."""
        if self.error is not None:
            raise self.error
        return self.value


class _Frame:
    def __init__(self) -> None:
        self.inputs: set[str] = set()
        self.problems: dict[Finding, None] = {}


class Trace:
    """Computations inside computations: what the inner one looked at, the outer one has looked at, too.

    The outermost one is the run itself.
    """

    def __init__(self) -> None:
        self._frames: list[_Frame] = [_Frame()]
        self._told: set[frozenset[str]] = set()
        self._known: dict[Hashable, Outcome] = {}

    @property
    def inputs(self) -> frozenset[str]:
        """What the run looked at so far."""
        return frozenset(self._frames[0].inputs)

    def note(self, name: str) -> None:
        """Say that the computation that goes on looks at an input."""
        self._frames[-1].inputs.add(name)

    def note_problem(self, problem: Finding) -> None:
        """Say that the computation that goes on met a problem."""
        self._frames[-1].problems[problem] = None

    def known(self, key: Hashable) -> bool:
        """Return whether something was worked out already."""
        return key in self._known

    def keep(self, key: Hashable, outcome: Outcome) -> None:
        """Take over an outcome that was worked out elsewhere."""
        self._known[key] = outcome

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Outcome:
        """Return the outcome of a computation, worked out when first asked for."""
        if key not in self._known:
            self._known[key] = self._record(compute)
        outcome = self._known[key]
        self._look_through(outcome)
        return outcome

    def _look_through(self, outcome: Outcome) -> None:
        frame = self._frames[-1]
        # A run takes thousands of outcomes from the cache, most of them with the inputs of another.
        if len(self._frames) > 1 or outcome.inputs not in self._told:
            frame.inputs |= outcome.inputs
        if len(self._frames) == 1:
            self._told.add(outcome.inputs)
        if outcome.problems:
            frame.problems.update(dict.fromkeys(outcome.problems))

    def _record(self, compute: Callable[[], Any]) -> Outcome:
        frame = _Frame()
        self._frames.append(frame)
        value, error = None, None
        try:
            value = compute()
        except Uninspectable as caught:
            error = caught
        finally:
            self._frames.pop()
        return Outcome(value, tuple(frame.problems), error, frozenset(frame.inputs))
