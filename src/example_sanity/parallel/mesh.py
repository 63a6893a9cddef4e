"""The algebra of parallel meshes: sizes, what must divide what, what is derived, and what breaks.

Sizes are counts of ranks under the field's symbols: ``world``, ``tp``, ``pp``, ``vpp``, ``cp``, ``ep``, ``etp``, and
the derived ``dp`` and ``edp``; ``nnodes`` and ``gpn`` (GPUs per node) where the world is their product. Facts are the
other numbers that constraints look at: batches, lengths, rollout sizes and what is known of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache

import msgspec
from msgspec import field

from example_sanity.parallel.constraint import (
    Constraint,
    Sizes,
    Split,
    Suggestion,
    Violation,
    claims,
    divides,
    stops,
)
from example_sanity.parallel.formula import Formula, formula
from example_sanity.parallel.keys import Key, Settings, whole_number

__all__ = ["Backend", "Constraint", "Key", "Mesh", "Settings", "Sizes", "Split", "Suggestion", "Violation"]
__all__ += ["claims", "divides", "stops", "whole_number"]

# What the ranks check when they build their groups. What a model or a batch needs beyond that has rules of its own.
MESH_CODES = frozenset({"MSH001", "MSH002"})
NOTHING: Mapping[str, int] = {}


class Backend(msgspec.Struct, frozen=True, dict=True):
    """A training backend in one role: where its sizes are set, how it splits the world, what it enforces.

    ``name`` is the backend's (``megatron_lite``), ``role`` which of a trainer's models it runs (``actor``, ``ref``,
    ``critic``, ``sft``). ``keys`` are ordered so that a symbol stands before those that default to it. The world is
    the product of ``world``. ``applies`` tells from the settings and the program whether a launch uses it,
    ``defaults_hold`` whether a setting that is left out has the backend's default (and not a configuration file's).

    ``facts`` are the keys of all other numbers, ``models`` the settings that name the model, and ``lets`` what
    follows from them by formula: symbol and formula, where the first formula wins whose symbols are all set.
    ``checkpoints`` are the settings that name a model beside the flags that describe it; its numbers have the prefix
    ``hf_``, so that the two can be compared.
    """

    name: str
    title: str
    role: str
    keys: tuple[Key, ...]
    world: tuple[Key, ...]
    splits: tuple[Split, ...]
    constraints: tuple[Constraint, ...]
    applies: Callable[[Settings, str | None], bool]
    defaults_hold: Callable[[Settings], bool] = lambda _: True
    facts: tuple[Key, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()

    @property
    def is_launched(self) -> bool:
        """Whether a launcher starts each rank; other trainers are one process that starts its ranks through Ray."""
        return self.role in ("trainer", "sft")

    def mesh(self, settings: Settings, world: int | None = None, facts: Sizes = NOTHING) -> Mesh:
        """Return the mesh of these settings; what cannot be known of it is in its ``unknown``.

        ``settings`` are dotted keys without ``+`` or flag names without dashes. ``world`` is the number of ranks
        where something other than the settings decides it, such as torchrun. ``facts`` are numbers known from
        elsewhere, such as the model's; the settings win over them.
        """
        hold = self.defaults_hold(settings)
        sizes, others = _Reading(settings, hold), _Reading(settings, hold)
        sizes.read((*self.keys, *(self.world if world is None else ())))
        others.read(self.facts)
        total = self._world(sizes) if world is None else world
        given = sizes.found if total is None else {**sizes.found, "world": total}
        unknown = frozenset(sizes.unknown | others.unknown | ({"world"} if total is None else set()))
        elsewhere = {symbol: size for symbol, size in facts.items() if symbol not in unknown}
        known = _filled(self.facts, {**elsewhere, **others.found}, unknown)
        return Mesh(self, given, {**others.origin, **sizes.origin}, known, unknown)

    def complete(self, given: Sizes, unknown: frozenset[str] = frozenset()) -> dict[str, int]:
        """Return the sizes with every default filled in; a size without a default stays out, so does an unknown one."""
        return _filled(self.keys, given, unknown)

    def values(
        self, sizes: Sizes, facts: Sizes = NOTHING, unknown: frozenset[str] = frozenset()
    ) -> dict[str, int]:
        """Return all that is known of complete ``sizes``: the facts, derived sizes, and what follows from them."""
        values = {**facts, **sizes, **self.derived(sizes)}
        undecided = set(unknown)
        for symbol, known, needs in self._lets:
            if symbol in values or symbol in undecided:
                continue
            if not undecided.isdisjoint(needs):
                undecided.add(symbol)
            elif values.keys() >= needs:
                with suppress(ZeroDivisionError):
                    values[symbol] = known.value(values)
        return values

    @cached_property
    def _lets(self) -> list[tuple[str, Formula, frozenset[str]]]:
        found = ((symbol, formula(text)) for symbol, text in self.lets)
        return [(symbol, known, frozenset(known.symbols)) for symbol, known in found]

    def derived(self, sizes: Sizes) -> dict[str, int]:
        """Return the derived sizes (``dp``, ``edp``) of complete ``sizes``, those that come out whole."""
        counts = ((split.derived, split.replicas(sizes)) for split in self.splits)
        return {symbol: count for symbol, count in counts if count is not None}

    def violated(
        self, sizes: Sizes, facts: Sizes = NOTHING, unknown: frozenset[str] = frozenset()
    ) -> list[Constraint]:
        """Return the constraints that complete ``sizes`` break, each cause once."""
        values = self.values(sizes, facts, unknown)
        broken = [rule for rule in self.constraints if rule.broken(values)]
        refined = {rule.refines for rule in broken}
        return [rule for rule in broken if rule.id not in refined]

    @cached_property
    def mesh_symbols(self) -> frozenset[str]:
        """The symbols of ranks: what the splits are made of, the world, and what they give."""
        parts = {symbol for split in self.splits for symbol in (*split.parts, split.derived)}
        return frozenset(parts | {"world"} | {key.symbol for key in (*self.keys, *self.world)})

    def _world(self, sizes: _Reading) -> int | None:
        for key in self.world:
            if key.symbol not in sizes.found:
                if not isinstance(key.default, int) or key.symbol in sizes.unknown:
                    return None
                sizes.found[key.symbol] = key.default
        return math.prod(sizes.found[key.symbol] for key in self.world) if self.world else None


class _Reading:
    """The numbers that settings give to keys, with the key that each came from, and the symbols that stay unknown."""

    def __init__(self, settings: Settings, defaults_hold: bool) -> None:
        self._settings, self._defaults_hold = settings, defaults_hold
        self.found: dict[str, int] = {}
        self.origin: dict[str, str] = {}
        self.unknown: set[str] = set()

    def read(self, keys: Iterable[Key]) -> None:
        for key in keys:
            name = key.find(self._settings)
            if name is None:
                if not self._defaults_hold and key.default is not None:
                    self.unknown.add(key.symbol)
            elif (size := key.read(self._settings[name])) is None:
                self.unknown.add(key.symbol)
            else:
                self.found[key.symbol], self.origin[key.symbol] = size, name


def _filled(keys: Iterable[Key], given: Sizes, unknown: frozenset[str]) -> dict[str, int]:
    values = {symbol: size for symbol, size in given.items() if symbol not in unknown}
    for key in keys:
        if key.symbol in values or key.symbol in unknown or key.default is None:
            continue
        if isinstance(key.default, int):
            values[key.symbol] = key.default
        elif key.default in values:
            values[key.symbol] = values[key.default]
    return values


class Mesh(msgspec.Struct, frozen=True, dict=True):
    """The sizes of one launch. ``given`` are those that were set (and the world); ``origin`` maps them to their keys.

    ``facts`` are the other numbers that are known, ``unknown`` the symbols that are set to something unreadable. A mesh
    that is made by hand has no facts but those it is given; one that is read from settings has their defaults too.
    """

    backend: Backend
    given: Sizes
    origin: Mapping[str, str]
    facts: Sizes = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        sizes = frozenset(self.given.items()), frozenset(self.facts.items())
        return hash((self.backend.name, self.backend.role, *sizes, self.unknown))

    @cached_property
    def sizes(self) -> Sizes:
        """Every size of the mesh that is known, defaults filled in."""
        return self.backend.complete(self.given, self.unknown)

    @cached_property
    def values(self) -> Sizes:
        """All numbers that are known: sizes, facts and what follows from them."""
        return self.backend.values(self.sizes, self.facts, self.unknown)

    @cached_property
    def derived(self) -> Sizes:
        """``dp`` and ``edp``, where they come out whole."""
        return self.backend.derived(self.sizes)

    @property
    def complete(self) -> bool:
        """Whether every size of the mesh is known."""
        return self.backend.mesh_symbols.isdisjoint(self.unknown)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """What the backend would refuse, in the order in which it checks; empty for a legal mesh."""
        return _violations(self) if self._broken else ()

    def violation(self, rule: Constraint, suggestion: Suggestion | None) -> Violation:
        """Return what is said of a constraint that the mesh breaks."""
        return Violation(rule, rule.problem(self.values) + self._inherited(rule), suggestion)

    @property
    def legal(self) -> bool:
        """Whether the backend accepts the mesh, be it with a warning."""
        return not stops(self._broken)

    @property
    def buildable(self) -> bool:
        """Whether the ranks can build the mesh, whatever model and batch ask beyond it."""
        sizes, splits = self.sizes, self.backend.splits
        whole = all(split.known(sizes) and split.whole(sizes) for split in splits)
        return bool(splits) and whole and not stops(r for r in self._broken if r.code in MESH_CODES)

    def key(self, symbol: str) -> str | None:
        """Return the settings key that sets a size, or that would where it is left out; None for a derived one."""
        keys = (*self.backend.keys, *self.backend.world, *self.backend.facts)
        named = (key.settings[0] for key in keys if key.symbol == symbol and key.settings)
        return self.origin.get(symbol) or next(named, None)

    def involved(self, constraint: Constraint) -> tuple[str, ...]:
        """Return the symbols of a constraint that settings carry; a derived one stands for what it is made of."""
        made = {split.derived: (*split.parts, "nnodes", "gpn") for split in self.backend.splits}
        made["world"] = ("gpn", "nnodes")
        made |= {symbol: formula(text).symbols for symbol, text in reversed(self.backend.lets)}
        found: dict[str, None] = {}
        todo = list(constraint.symbols)
        while todo:
            symbol = todo.pop(0)
            if symbol not in found:
                found[symbol] = None
                todo += () if symbol in self.origin else made.get(symbol, ())
        return tuple(symbol for symbol in found if symbol in self.origin)

    @cached_property
    def _broken(self) -> list[Constraint]:
        return self.backend.violated(self.sizes, self.facts, self.unknown)

    def _inherited(self, rule: Constraint) -> str:
        notes = [
            f"{key.symbol} is unset and follows {key.default}"
            for key in self.backend.keys
            if key.symbol in rule.symbols and key.symbol not in self.given
            if isinstance(key.default, str) and self.sizes.get(key.default, 1) > 1
        ]
        return f" ({', '.join(notes)})" if notes else ""


@lru_cache(
    maxsize=32
)  # most scenarios of a launcher have the same mesh, and a search takes up to a tenth of a second
def _violations(mesh: Mesh) -> tuple[Violation, ...]:
    from example_sanity.parallel.suggest import Search

    search = Search(mesh)
    return tuple(mesh.violation(rule, search.repair(rule)) for rule in mesh._broken)
