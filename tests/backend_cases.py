"""Each constraint of a backend with settings that break it, and its legal twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from example_sanity.parallel.backends import plans
from example_sanity.parallel.mesh import Backend, Mesh
from example_sanity.parallel.models import KINDS, Models

Settings = Mapping[str, object]
# Models with numbers that no real one has together.
_PLAIN = {
    "layers": 24,
    "heads": 24,
    "kv": 6,
    "experts": 12,
    "mtp": 0,
    "positions": 32768,
    **dict.fromkeys(KINDS, 0),
}
_CHECKPOINT = {
    "layers": 24,
    "hidden": 2048,
    "heads": 16,
    "experts": 0,
    "ffn": 8192,
    "moe_ffn": 512,
    "rope": 1000000,
    "dsa": 0,
}
MODELS = Models(
    {
        "odd": _PLAIN,
        "odd-lite": {**_PLAIN, "heads": 64, "mla": 1, "mtp": 1, "ffn": 8196, "moe_ffn": 1540},
        "odd-tied": {**_CHECKPOINT, "tied": 1},
        "odd-untied": {**_CHECKPOINT, "tied": 0},
        "odd-gdn": {**_PLAIN, "heads": 16, "kv": 4, "gdn": 1, "linear_k": 6, "linear_v": 12},
    }
)


@dataclass(frozen=True)
class Case:
    """One constraint: what to change of legal settings to break it, and what then is said.

    ``good`` are changes after which it holds, where the legal settings alone do not come near it. A value of None
    leaves a setting out. ``also`` are constraints that cannot but break with it, ``world`` another number of ranks.
    """

    id: str
    bad: Settings
    message: str
    good: Settings = field(default_factory=dict)
    also: tuple[str, ...] = ()
    world: int | None = None


def plan(
    backend: str, settings: Settings, program: str | None, world: int | None, machine: Mapping[str, int]
) -> Mesh:
    """Return the mesh of a backend, the only one in these settings."""
    (found,) = (
        mesh
        for mesh in plans(settings, program, world, machine=machine, model=MODELS.lookup)
        if mesh.backend.name == backend
    )
    return found


@dataclass(frozen=True)
class Bench:
    """Legal settings of a backend, which the cases change."""

    backend: Backend
    base: Settings
    program: str | None = None
    world: int | None = None
    machine: Mapping[str, int] = field(default_factory=dict)

    def mesh(self, changes: Settings = {}, world: int | None = None) -> Mesh:  # noqa: B006
        """Return the mesh of the legal settings with changes."""
        return plan(
            self.backend.name, {**self.base, **changes}, self.program, world or self.world, self.machine
        )

    def broken(self, case: Case) -> Mapping[str, str]:
        """Return what is broken in the bad twin: id and message."""
        found = self.mesh(case.bad, case.world).violations
        return {violation.constraint.id: violation.message for violation in found}

    def assert_case(self, case: Case) -> None:
        """The bad twin breaks this constraint (and those it cannot but break), the good one none, knowing all numbers."""
        found = self.broken(case)
        assert found.get(case.id) == case.message
        assert set(found) == {case.id, *case.also}
        good = self.mesh(case.good)
        assert [violation.message for violation in good.violations] == []
        (rule,) = (rule for rule in self.backend.constraints if rule.id == case.id)
        assert [symbol for symbol in rule.symbols if symbol not in good.values] == []

    def uncovered(self, cases: Sequence[Case]) -> set[str]:
        """Return the constraints without a case."""
        return {rule.id for rule in self.backend.constraints} - {case.id for case in cases}


def label(item: object) -> str:
    """Name a parameter of a test; the same in every process, as the workers of a parallel run compare names."""
    if isinstance(item, Bench):
        return f"{item.backend.name}-{item.backend.role}"
    return item.id if isinstance(item, Case) else ""
