"""The algebra of parallel meshes: sizes, what must divide what, what is derived, and what breaks.

Sizes are counts of ranks under the field's symbols: ``world``, ``tp``, ``pp``, ``vpp``, ``cp``, ``ep``, ``etp``, and
the derived ``dp`` and ``edp``; ``nnodes`` and ``gpn`` (GPUs per node) where the world is their product. Facts are the
other numbers that constraints look at: batches, lengths, rollout sizes and what is known of the model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from example_sanity.core.finding import Severity
from example_sanity.parallel.constraint import STAGES, Constraint, Effect, Sizes, Split, Stage, divides
from example_sanity.parallel.formula import formula

__all__ = ["STAGES", "Backend", "Constraint", "Effect", "Key", "Mesh", "Settings", "Sizes", "Split", "Stage"]
__all__ += ["Suggestion", "Violation", "divides", "one_of", "stops", "switch", "whole_number"]

Settings = Mapping[str, object]
NOTHING: Mapping[str, int] = {}


def whole_number(value: object) -> int | None:
    """Return ``value`` as a size, or None when it is no whole number (text, a float, an interpolation)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value.strip()):
        return int(value)
    return None


def stops(broken: Iterable[Constraint]) -> bool:
    """Whether one of these broken constraints keeps the launch from running right."""
    return any(rule.severity is Severity.ERROR for rule in broken)


def switch(value: object) -> int | None:
    """Return 1 for a switch that is on and 0 for one that is off, or None where that is not known."""
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    return int(value) if isinstance(value, bool) else None


def one_of(*names: str) -> Callable[[object], int | None]:
    """Return the reader of a choice: 1 where it is one of ``names``, 0 where it is another text."""
    return lambda value: int(value in names) if isinstance(value, str) and value[:1].isalpha() else None


@dataclass(frozen=True)
class Key:
    """Where a size is set: the settings keys that carry it, first one wins, and what it is when none does.

    ``default`` is a number, the symbol whose size it takes, or None. None means that the size stays unset, and for a
    factor of the world that the world is unknown. ``read`` makes a number of the value, or None of one it cannot read.
    """

    symbol: str
    settings: tuple[str, ...]
    default: int | str | None = None
    read: Callable[[object], int | None] = whole_number

    def find(self, settings: Settings) -> str | None:
        """Return the settings key that carries the size, or None; ``null`` counts as left out."""
        return next((name for name in self.settings if settings.get(name) is not None), None)


@dataclass(frozen=True)
class Suggestion:
    """The smallest change found that makes a mesh legal. A size of None means: leave that setting out.

    ``called`` names the symbols that are no sizes of ranks, for launchers that give them no name of their own.
    """

    changes: tuple[tuple[str, int | None], ...]
    derived: Sizes
    called: Mapping[str, str] = field(default_factory=dict)

    def text(self, derives: Iterable[str] = (), names: Mapping[str, str] | None = None) -> str:
        """Say the change: ``with CP=4 it fits, dp=1``. ``names`` maps symbols to what the launcher calls them."""
        called = {**self.called, **(names or {})}
        parts = [
            f"{size} GPUs"
            if symbol == "world" and symbol not in called
            else f"{called.get(symbol, symbol.upper())}{' unset' if size is None else f'={size}'}"
            for symbol, size in self.changes
        ]
        result = "".join(f", {symbol}={self.derived[symbol]}" for symbol in derives if symbol in self.derived)
        return f"with {' and '.join(parts)} it fits{result}"


@dataclass(frozen=True)
class Violation:
    """A constraint that a mesh breaks, and the smallest change that makes the whole mesh legal."""

    constraint: Constraint
    problem: str
    suggestion: Suggestion | None

    @property
    def message(self) -> str:
        """Problem and change: ``8 GPUs cannot hold tp1·cp8·pp2 = 16; with CP=4 it fits, dp=1``."""
        return self.text()

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Like :attr:`message`, with the launcher's own names in the change."""
        if self.suggestion is None:
            return self.problem
        return f"{self.problem}; {self.suggestion.text(self.constraint.derives, names)}"


@dataclass(frozen=True)
class Backend:
    """A training backend in one role: where its sizes are set, how it splits the world, what it enforces.

    ``name`` is the backend's (``megatron_lite``), ``role`` which of a trainer's models it runs (``actor``, ``ref``,
    ``critic``, ``sft``). ``keys`` are ordered so that a symbol stands before those that default to it. The world is
    the product of ``world``. ``applies`` tells from the settings and the program whether a launch uses it,
    ``defaults_hold`` whether a setting that is left out has the backend's default (and not a configuration file's).

    ``facts`` are the keys of all other numbers, ``models`` the settings that name the model, and ``lets`` what
    follows from them by formula: symbol and formula, where the first formula wins whose symbols are all set.
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

    def mesh(self, settings: Settings, world: int | None = None, facts: Sizes = NOTHING) -> Mesh:
        """Return the mesh of these settings; what cannot be known of it is in its ``unknown``.

        ``settings`` are dotted keys without ``+`` or flag names without dashes. ``world`` is the number of ranks
        where something other than the settings decides it, such as torchrun. ``facts`` are numbers known from
        elsewhere, such as the model's; the settings win over them.
        """
        hold = self.defaults_hold(settings)
        sizes = _Reading(settings, hold)
        sizes.read((*self.keys, *(self.world if world is None else ())))
        total = self._world(sizes) if world is None else world
        given = sizes.found if total is None else {**sizes.found, "world": total}
        others = _Reading(settings, hold)
        others.read(self.facts)
        unknown = frozenset(sizes.unknown | others.unknown | ({"world"} if total is None else set()))
        known = {**{symbol: size for symbol, size in facts.items() if symbol not in unknown}, **others.found}
        return Mesh(self, given, {**others.origin, **sizes.origin}, known, unknown)

    def complete(self, given: Sizes, unknown: frozenset[str] = frozenset()) -> dict[str, int]:
        """Return the sizes with every default filled in; a size without a default stays out, so does an unknown one."""
        return _filled(self.keys, given, unknown)

    def values(
        self, sizes: Sizes, facts: Sizes = NOTHING, unknown: frozenset[str] = frozenset()
    ) -> dict[str, int]:
        """Return all that is known of complete ``sizes``: facts with their defaults, derived sizes, what follows."""
        values = {**_filled(self.facts, {**facts, **sizes}, unknown), **self.derived(sizes)}
        undecided = set(unknown)
        for symbol, text in self.lets:
            needs = formula(text).symbols
            if symbol in values or symbol in undecided:
                continue
            if not undecided.isdisjoint(needs):
                undecided.add(symbol)
            elif all(need in values for need in needs):
                with suppress(ZeroDivisionError):
                    values[symbol] = formula(text).value(values)
        return values

    def derived(self, sizes: Sizes) -> dict[str, int]:
        """Return the derived sizes (``dp``, ``edp``) of complete ``sizes``, those that come out whole."""
        return {
            split.derived: sizes["world"] // split.size(sizes)
            for split in self.splits
            if split.known(sizes) and split.whole(sizes)
        }

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


@dataclass(frozen=True)
class Mesh:
    """The sizes of one launch. ``given`` are those that were set (and the world); ``origin`` maps them to their keys.

    ``facts`` are the other numbers that are known, ``unknown`` the symbols that are set to something unreadable.
    """

    backend: Backend
    given: Sizes
    origin: Mapping[str, str]
    facts: Sizes = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

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
        if not self._broken:
            return ()
        from example_sanity.parallel.suggest import Search

        search = Search(self)
        return tuple(
            Violation(rule, rule.problem(self.values) + self._inherited(rule), search.repair(rule))
            for rule in self._broken
        )

    @property
    def legal(self) -> bool:
        """Whether the backend accepts the mesh, be it with a warning."""
        return not stops(self._broken)

    def key(self, symbol: str) -> str | None:
        """Return the settings key that sets a size, or that would where it is left out; None for a derived one."""
        keys = (*self.backend.keys, *self.backend.world, *self.backend.facts)
        named = (key.settings[0] for key in keys if key.symbol == symbol and key.settings)
        return self.origin.get(symbol) or next(named, None)

    def involved(self, constraint: Constraint) -> tuple[str, ...]:
        """Return the symbols of a constraint that settings carry; a derived one stands for what it is made of."""
        made = {split.derived: (*split.parts, "nnodes", "gpn") for split in self.backend.splits}
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
