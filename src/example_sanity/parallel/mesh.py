"""The algebra of parallel meshes: sizes, what must divide what, what is derived, and what breaks.

Sizes are counts of ranks under the field's symbols: ``world``, ``tp``, ``pp``, ``vpp``, ``cp``, ``ep``, ``etp``, and
the derived ``dp`` and ``edp``; ``nnodes`` and ``gpn`` (GPUs per node) where the world is their product.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from example_sanity.core.finding import Severity

Sizes = Mapping[str, int]
Settings = Mapping[str, object]
Effect = Literal["assertion", "hang", "silent", "error"]
Stage = Literal["cfg", "init", "model", "step1"]

STAGES: Mapping[Stage, str] = {
    "cfg": "in the driver, before any worker starts",
    "init": "when the ranks build the mesh",
    "model": "when the model is built",
    "step1": "at the first update",
}


@dataclass(frozen=True)
class Key:
    """Where a size is set: the settings keys that carry it, first one wins, and what it is when none does.

    ``default`` is a number, the symbol whose size it takes, or None. None means that the size stays unset, and for a
    factor of the world that the world is unknown.
    """

    symbol: str
    settings: tuple[str, ...]
    default: int | str | None = None

    def find(self, settings: Settings) -> str | None:
        """Return the settings key that carries the size, or None; ``null`` counts as left out."""
        return next((name for name in self.settings if settings.get(name) is not None), None)


@dataclass(frozen=True)
class Split:
    """One way to factor the world: ``world = Π parts · derived``. ``order`` is the rank order, fastest first."""

    derived: str
    parts: tuple[str, ...]
    order: tuple[str, ...]

    def size(self, sizes: Sizes) -> int:
        """Ranks of one replica: the product of the parts."""
        return math.prod(sizes[part] for part in self.parts)

    def whole(self, sizes: Sizes) -> bool:
        """Whether the replicas fill the world exactly; world and parts must be at least 1."""
        size = self.size(sizes)
        return sizes["world"] >= size > 0 and sizes["world"] % size == 0 and self.positive(sizes)

    def positive(self, sizes: Sizes) -> bool:
        """Whether world and parts are at least 1."""
        return min(sizes["world"], *(sizes[part] for part in self.parts)) > 0

    def problem(self, sizes: Sizes) -> str:
        """Say with the numbers why the world cannot be split so; only meaningful when :meth:`whole` is False."""
        bad = next((part for part in ("world", *self.parts) if sizes[part] < 1), None)
        if bad is not None:
            return f"{bad} = {sizes[bad]}, but a size is at least 1"
        world, size = sizes["world"], self.size(sizes)
        product = "·".join(f"{part}{sizes[part]}" for part in self.parts)
        gpus = f"{world} GPU" if world == 1 else f"{world} GPUs"
        if size > world:
            return f"{gpus} cannot hold {product} = {size}"
        return f"{gpus} do not divide into {product} = {size} ({world % size} left over)"


@dataclass(frozen=True)
class Constraint:
    """One rule of a backend, as its code enforces it.

    ``id`` and ``source`` say where the rule is written down and where the backend checks it; ``code`` is the rule
    that reports it. ``raises`` is the exception that the user sees, if any. A constraint that ``refines`` another
    is a special case of it, and where both fail only the special case is reported. ``symbols`` are the sizes that
    it looks at, ``derives`` what it makes whole.
    """

    id: str
    formula: str
    code: str
    effect: Effect
    stage: Stage
    source: str
    holds: Callable[[Sizes], bool]
    problem: Callable[[Sizes], str]
    symbols: tuple[str, ...]
    derives: tuple[str, ...] = ()
    raises: str = ""
    refines: str = ""

    @property
    def severity(self) -> Severity:
        """Error when the run stops, hangs or goes wrong unseen; warning when the configuration quietly mends it."""
        return Severity.WARNING if (self.effect, self.stage) == ("silent", "cfg") else Severity.ERROR

    @property
    def outcome(self) -> str:
        """What happens and when: ``RuntimeError when the ranks build the mesh``."""
        what = self.raises or {"assertion": "AssertionError", "hang": "a hang", "silent": "no message"}.get(
            self.effect, "an error"
        )
        return f"{what} {STAGES[self.stage]}"


@dataclass(frozen=True)
class Suggestion:
    """The smallest change found that makes a mesh legal. A size of None means: leave that setting out."""

    changes: tuple[tuple[str, int | None], ...]
    derived: Sizes

    def text(self, derives: Iterable[str] = (), names: Mapping[str, str] | None = None) -> str:
        """Say the change: ``with CP=4 it fits, dp=1``. ``names`` maps symbols to what the launcher calls them."""
        called = names or {}
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

    def mesh(self, settings: Settings, world: int | None = None) -> Mesh | None:
        """Return the mesh of these settings, or None where a size cannot be known.

        ``settings`` are dotted keys without ``+`` or flag names without dashes. ``world`` is the number of ranks
        where something other than the settings decides it, such as torchrun.
        """
        keys = self.keys if world is not None else (*self.keys, *self.world)
        given: dict[str, int] = {}
        origin: dict[str, str] = {}
        defaults_hold = self.defaults_hold(settings)
        for key in keys:
            name = key.find(settings)
            if name is None:
                if not defaults_hold and key.default is not None:
                    return None
                continue
            if (size := whole_number(settings[name])) is None:
                return None
            given[key.symbol], origin[key.symbol] = size, name
        total = self._world(given) if world is None else world
        return None if total is None else Mesh(self, {**given, "world": total}, origin)

    def complete(self, given: Sizes) -> dict[str, int]:
        """Return the sizes with every default filled in; a size without a default stays out."""
        sizes = dict(given)
        for key in self.keys:
            if key.symbol not in sizes and key.default is not None:
                sizes[key.symbol] = sizes[key.default] if isinstance(key.default, str) else key.default
        return sizes

    def derived(self, sizes: Sizes) -> dict[str, int]:
        """Return the derived sizes (``dp``, ``edp``) of complete ``sizes``, those that come out whole."""
        return {
            split.derived: sizes["world"] // split.size(sizes) for split in self.splits if split.whole(sizes)
        }

    def violated(self, sizes: Sizes) -> list[Constraint]:
        """Return the constraints that complete ``sizes`` break, each cause once."""
        broken = [rule for rule in self.constraints if not rule.holds(sizes)]
        refined = {rule.refines for rule in broken}
        return [rule for rule in broken if rule.id not in refined]

    def _world(self, given: dict[str, int]) -> int | None:
        for key in self.world:
            if key.symbol not in given:
                if not isinstance(key.default, int):
                    return None
                given[key.symbol] = key.default
        return math.prod(given[key.symbol] for key in self.world)


@dataclass(frozen=True)
class Mesh:
    """The sizes of one launch. ``given`` are those that were set (and the world); ``origin`` maps them to their keys."""

    backend: Backend
    given: Sizes
    origin: Mapping[str, str]

    @cached_property
    def sizes(self) -> Sizes:
        """Every size, defaults filled in."""
        return self.backend.complete(self.given)

    @cached_property
    def derived(self) -> Sizes:
        """``dp`` and ``edp``, where they come out whole."""
        return self.backend.derived(self.sizes)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """What the backend would refuse, in the order in which it checks; empty for a legal mesh."""
        broken = self.backend.violated(self.sizes)
        if not broken:
            return ()
        from example_sanity.parallel.suggest import suggest

        change = suggest(self.backend, self.given)
        return tuple(
            Violation(rule, rule.problem(self.sizes) + self._inherited(rule), change) for rule in broken
        )

    @property
    def legal(self) -> bool:
        """Whether the backend accepts the mesh."""
        return not self.backend.violated(self.sizes)

    def key(self, symbol: str) -> str | None:
        """Return the settings key that sets a size, or that would where it is left out; None for a derived one."""
        named = (key.settings[0] for key in (*self.backend.keys, *self.backend.world) if key.symbol == symbol)
        return self.origin.get(symbol) or next(named, None)

    def _inherited(self, rule: Constraint) -> str:
        notes = [
            f"{key.symbol} is unset and follows {key.default}"
            for key in self.backend.keys
            if key.symbol in rule.symbols and key.symbol not in self.given
            if isinstance(key.default, str) and self.sizes[key.default] > 1
        ]
        return f" ({', '.join(notes)})" if notes else ""


def whole_number(value: object) -> int | None:
    """Return ``value`` as a size, or None when it is no whole number (text, a float, an interpolation)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value.strip()):
        return int(value)
    return None


def divides(split: Split, number: str, code: str, raises: str, source: str) -> Constraint:
    """Make the constraint that the world is a whole number of replicas of ``split``, checked as the mesh is built."""
    return Constraint(
        id=number,
        formula=f"world % ({'·'.join(split.parts)}) = 0",
        code=code,
        effect="error",
        stage="init",
        source=source,
        holds=split.whole,
        problem=split.problem,
        symbols=split.parts,
        derives=(split.derived,),
        raises=raises,
    )
