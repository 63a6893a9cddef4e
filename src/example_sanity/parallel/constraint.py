"""What a backend enforces: one constraint each, with where it is checked, when that happens and what the user sees."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Literal

import msgspec
from msgspec import field

from example_sanity.core.finding import Severity
from example_sanity.parallel.formula import Formula, Values, fill, formula, mentioned

Sizes = Mapping[str, int]
Effect = Literal["assertion", "hang", "silent", "slow", "wasteful", "error"]
Stage = Literal["cfg", "args", "init", "model", "step1"]

STAGES: Mapping[Stage, str] = {
    "cfg": "in the driver, before any worker starts",
    "args": "when the arguments are checked",
    "init": "when the ranks build the mesh",
    "model": "when the model is built",
    "step1": "at the first update",
}
_OUTCOMES: Mapping[Effect, str] = {
    "assertion": "AssertionError",
    "hang": "a hang",
    "silent": "no message",
    "slow": "no message, but slow",
    "wasteful": "no message, but samples or GPUs go unused",
    "error": "an error",
}
# The letters of docs/mesh.md for what happens; anything else is the name of the exception.
_HOW: Mapping[str, tuple[Effect, str]] = {
    "A": ("assertion", "AssertionError"),
    "V": ("error", "ValueError"),
    "R": ("error", "RuntimeError"),
    "N": ("error", "NotImplementedError"),
    "S": ("silent", ""),
    "H": ("hang", ""),
    "slow": ("slow", ""),
    "wasteful": ("wasteful", ""),
}


class Split(msgspec.Struct, frozen=True, dict=True):
    """One way to factor the world: ``world = Π parts · derived``. ``order`` is the rank order, fastest first."""

    derived: str
    parts: tuple[str, ...]
    order: tuple[str, ...]

    def known(self, sizes: Sizes) -> bool:
        """Whether world and parts are there."""
        return sizes.keys() >= self._needs

    @cached_property
    def _needs(self) -> frozenset[str]:
        return frozenset({"world", *self.parts})

    def size(self, sizes: Sizes) -> int:
        """Ranks of one replica: the product of the parts."""
        return math.prod([sizes[part] for part in self.parts])

    def replicas(self, sizes: Sizes) -> int | None:
        """Return the size that is derived, None where world or a part is not known or the replicas do not fill the world."""
        return sizes["world"] // self.size(sizes) if self.known(sizes) and self.whole(sizes) else None

    def whole(self, sizes: Sizes) -> bool:
        """Whether the replicas fill the world exactly; world and parts must be at least 1."""
        size, world = self.size(sizes), sizes["world"]
        return world >= size > 0 and world % size == 0 and self.positive(sizes)

    def positive(self, sizes: Sizes) -> bool:
        """Whether world and parts are at least 1."""
        return min([sizes["world"], *[sizes[part] for part in self.parts]]) > 0

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


class Constraint(msgspec.Struct, frozen=True, dict=True):
    """One rule of a backend, as its code enforces it.

    ``id`` and ``source`` say where the rule is written down and where the backend checks it; ``code`` is the rule
    that reports it. ``raises`` is the exception that the user sees, if any. A constraint that ``refines`` another
    is a special case of it, and where both fail only the special case is reported. ``symbols`` are the sizes that
    it looks at: where one is not known, the constraint is silent. ``derives`` is what it makes whole, ``adjust`` the
    symbols outside the mesh whose change repairs it best, such as a batch size.
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
    adjust: tuple[str, ...] = ()

    @cached_property
    def _needs(self) -> frozenset[str]:
        return frozenset(self.symbols)

    @property
    def severity(self) -> Severity:
        """Error when the run stops, hangs or goes wrong unseen; warning when it wastes something or is quietly mended."""
        mild = self.effect in ("slow", "wasteful") or (self.effect, self.stage) == ("silent", "cfg")
        return Severity.WARNING if mild else Severity.ERROR

    @property
    def outcome(self) -> str:
        """What happens and when: ``RuntimeError when the ranks build the mesh``."""
        return f"{self.raises or _OUTCOMES[self.effect]} {STAGES[self.stage]}"

    def broken(self, values: Values) -> bool:
        """Whether the constraint is known to be broken; an unknown symbol or a size of 0 says nothing."""
        if not values.keys() >= self._needs:
            return False
        try:
            return not self.holds(values)
        except ZeroDivisionError:
            return False


def stops(broken: Iterable[Constraint]) -> bool:
    """Whether one of these broken constraints keeps the launch from running right."""
    return any(rule.severity is Severity.ERROR for rule in broken)


class Suggestion(msgspec.Struct, frozen=True):
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


class Violation(msgspec.Struct, frozen=True):
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
        symbols=(*split.parts, "world"),
        derives=(split.derived,),
        raises=raises,
    )


def claims(text: str, source: str = "") -> tuple[Constraint, ...]:
    """Make the constraints of a table. Records are separated by an empty line, ``source`` goes before each place:

    .. code-block:: text

        MC-16 MSH009 A args | 1424-1428
        cp > 1 => seq % (2·cp) = 0
        sequence length {seq} does not divide into 2·cp{cp} = {2·cp} chunks
        adjust: seq

    First come id, code, what happens (a letter of ``docs/mesh.md`` or the name of an exception), when, and the place in
    the source; then the formula; then the problem with formulas in braces, or none to tell it from the numbers. The
    lines ``adjust:`` and ``refines:`` are optional. An indented line continues the one before. Raises ValueError for a
    record that is none.
    """
    records = re.split(r"\n\s*\n", textwrap.dedent(text).strip("\n"))
    return tuple(_record(re.sub(r"\n\s+", " ", record).splitlines(), source) for record in records)


def _record(lines: list[str], source: str) -> Constraint:
    head, place = _parted(lines[0], " | ")
    number, code, what, stage = head.split()
    known = formula(lines[1])
    more = dict(_parted(line, ": ") for line in lines[2:] if line.startswith(("adjust: ", "refines: ")))
    says = next((line for line in lines[2:] if not line.startswith(("adjust: ", "refines: "))), "")
    effect, raises = _HOW.get(what, ("error", what))
    return Constraint(
        id=number,
        formula=known.text,
        code=code,
        effect=effect,
        stage=_stage(stage),
        source=source + place,
        holds=lambda values: bool(known.value(values)),
        problem=lambda values: fill(says, values) if says else _told(known, values),
        symbols=tuple(dict.fromkeys((*known.symbols, *mentioned(says)))),
        raises=raises,
        refines=more.get("refines", ""),
        adjust=tuple(more.get("adjust", "").split()),
    )


def _parted(line: str, separator: str) -> tuple[str, str]:
    first, found, second = line.partition(separator)
    if not found:
        raise ValueError(f"{line!r} has no {separator.strip()!r}")
    return first, second


def _stage(text: str) -> Stage:
    for stage in STAGES:
        if stage == text:
            return stage
    raise ValueError(f"{text!r} is no stage")


def _told(known: Formula, values: Values) -> str:
    total, percent, size = known.claim.removesuffix(" = 0").partition(" % ")
    if percent and known.claim.endswith(" = 0") and not {"and", "or"} & {*known.claim.split()}:
        left = formula(f"{total} % {size}").value(values)
        shown = formula(size.removeprefix("(").removesuffix(")")).shown(values)
        return f"{formula(total).shown(values)} does not divide by {shown} ({left} left over)"
    numbers = ", ".join(f"{symbol} = {values[symbol]}" for symbol in known.symbols)
    return f"{known.text} does not hold with {numbers}"
