"""The guard prover: is the mesh check of a launcher the same as the one of its backend?

The launcher's guard is a black box here, a judge that tells for each assignment of its knobs whether it lets the
launch pass and which derived sizes it prints or exports. The algebra supplies the truth to compare it with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.parallel.constraint import Sizes
from example_sanity.parallel.mesh import MESH_CODES, Backend, Mesh

if TYPE_CHECKING:
    from example_sanity.parallel.grid import Assignment, Grid

# A guard speaks of the mesh that the ranks build.
MESH_STAGES = frozenset({"cfg", "args", "init"})


class Verdict(msgspec.Struct, frozen=True):
    """What a guard did with one assignment. ``derived`` are the sizes that it then printed or exported, by symbol."""

    accepted: bool
    derived: Mapping[str, int] = field(default_factory=dict)


# One verdict for each assignment of sizes to knobs; None where the guard could not be run to an end.
Judge = Callable[[Sequence["Assignment"]], Sequence["Verdict | None"]]


class Example(msgspec.Struct, frozen=True):
    """An assignment that shows a difference. ``changed`` are the knobs that differ from the defaults."""

    knobs: Mapping[str, int]
    changed: Mapping[str, int]
    mesh: Mesh

    @property
    def setting(self) -> str:
        """The assignment as one would type it: ``CP=16 EP=4``, or ``the defaults``."""
        return " ".join(f"{knob}={size}" for knob, size in self.changed.items()) or "the defaults"


class WrongDerived(msgspec.Struct, frozen=True):
    """A derived size that the launcher prints or exports wrongly in a launch that guard and backend both accept."""

    symbol: str
    shown: int
    right: int
    example: Example


class Proof(msgspec.Struct, frozen=True):
    """What the prover found, each with its smallest example.

    ``unsound``: the guard accepts what the backend rejects. ``strict``: the guard rejects what the backend accepts.
    ``wrong_derived``: one entry for each derived size that is shown wrongly. ``tried`` counts the assignments that
    were judged, ``accepted`` those that the guard let pass, ``undecided`` those that stop for another reason or could not
    be run to an end. No example means: none in this grid.
    """

    unsound: Example | None
    strict: Example | None
    wrong_derived: tuple[WrongDerived, ...]
    tried: int
    accepted: int
    undecided: int = 0

    @property
    def exact(self) -> bool:
        """Whether guard and backend agree on the whole grid."""
        return self.unsound is None and self.strict is None and not self.wrong_derived


def prove(
    backend: Backend,
    fixed: Sizes,
    variables: Mapping[str, str],
    judge: Judge,
    grid: Grid,
) -> Proof:
    """Compare a guard with ``backend`` over ``grid``; of several examples the first in the grid's order is reported.

    ``variables`` maps each knob to the symbol that it sets. Several knobs of one symbol multiply, and a fixed size of
    that symbol multiplies them too: with ``fixed`` ``{"world": 8, "tp": 1}`` and ``{"NNODES": "world"}`` the world is
    NNODES · 8. A symbol in neither takes the backend's default. Raises ValueError when no world can be made, or when
    the judge does not answer every assignment.
    """
    if "world" not in fixed and "world" not in variables.values():
        raise ValueError("the world size is neither fixed nor set by a knob")
    findings = _Findings(backend, grid)
    for knobs, verdict in zip(grid.assignments, judge(grid.assignments), strict=True):
        if verdict is None:
            findings.undecided += 1
        else:
            findings.add(knobs, _given(fixed, variables, knobs), verdict)
    return findings.proof()


def legal(backend: Backend, sizes: Sizes) -> bool:
    """Whether ``backend`` builds a mesh of complete ``sizes``, whatever the model may need beyond it."""
    rules = (rule for rule in backend.constraints if rule.code in MESH_CODES and rule.stage in MESH_STAGES)
    return not any(rule.broken(sizes) for rule in rules)


def _given(fixed: Sizes, variables: Mapping[str, str], knobs: Mapping[str, int]) -> dict[str, int]:
    given = dict(fixed)
    for knob, symbol in variables.items():
        given[symbol] = given.get(symbol, 1) * knobs[knob]
    return given


class _Findings:
    def __init__(self, backend: Backend, grid: Grid) -> None:
        self.backend, self.grid = backend, grid
        self.unsound: Example | None = None
        self.strict: Example | None = None
        self.wrong: dict[str, WrongDerived] = {}
        self.tried = self.accepted = self.undecided = 0

    def add(self, knobs: Mapping[str, int], given: Sizes, verdict: Verdict) -> None:
        sizes = self.backend.complete(given)
        right = legal(self.backend, sizes)
        self.tried += 1
        self.accepted += verdict.accepted
        if verdict.accepted and not right:
            self.unsound = self.unsound or self._example(knobs, given)
        elif right and not verdict.accepted:
            self.strict = self.strict or self._example(knobs, given)
        elif right:
            self._compare(knobs, given, verdict, self.backend.derived(sizes))

    def _compare(self, knobs: Mapping[str, int], given: Sizes, verdict: Verdict, derived: Sizes) -> None:
        for symbol, shown in verdict.derived.items():
            if symbol in derived and derived[symbol] != shown and symbol not in self.wrong:
                example = self._example(knobs, given)
                self.wrong[symbol] = WrongDerived(symbol, shown, derived[symbol], example)

    def _example(self, knobs: Mapping[str, int], given: Sizes) -> Example:
        return Example(knobs, self.grid.changes(knobs), Mesh(self.backend, given, {}))

    def proof(self) -> Proof:
        wrong = tuple(self.wrong[symbol] for symbol in sorted(self.wrong))
        return Proof(self.unsound, self.strict, wrong, self.tried, self.accepted, self.undecided)
