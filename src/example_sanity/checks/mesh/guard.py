"""Puts a launcher's own mesh check to the proof: finds its knobs and its guard, and lets the sandbox be the judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from example_sanity.checks.mesh.bridge import LaunchMesh
from example_sanity.checks.mesh.reach import Reach
from example_sanity.core.regex import regex
from example_sanity.launch import world
from example_sanity.launch.syntax import Assignment, Guard, Script, parse
from example_sanity.parallel.grid import Grid
from example_sanity.parallel.guard import Proof, Verdict, prove
from example_sanity.parallel.mesh import whole_number

# How launchers spell derived sizes in variables (DP, DP_SIZE, EDP) and in what they print (dp=4, EDP: 2).
_VARIABLE = regex(r"(E?DP)(?:_SIZE|_WORLD_SIZE)?", re.IGNORECASE)
_ARITHMETIC = regex(r"[\w})]\s*\\?[*/%]\s*[\w${(]")
_TEXT = regex(rb"[^\n]")
_PRINTED = regex(r"(?<![\w.])(e?dp)(?:_size)?\s*[=:]\s*(\d+)(?![\w.])", re.IGNORECASE)


class GuardCase(msgspec.Struct, frozen=True, dict=True):
    """A launcher's guard and the knobs that it can be tried with.

    ``knobs`` maps each name that the environment may set to the symbol that it sets, ``defaults`` to its size in this
    launch; ``fixed`` are the sizes that the launcher sets otherwise.
    """

    script: Script
    shown: LaunchMesh
    guards: tuple[Guard, ...]
    knobs: Mapping[str, str]
    defaults: Mapping[str, int]
    fixed: Mapping[str, int]

    @cached_property
    def derived(self) -> tuple[Assignment, ...]:
        """The assignments that compute a derived size from a knob."""
        reach = Reach(self.script)
        return tuple(
            item
            for item in self.script.assignments
            if _VARIABLE.fullmatch(item.name) and reach.knobs(item.reads) & self.knobs.keys()
        )

    def guard_of(self, symbols: Collection[str]) -> Guard:
        """Return the guard that looks at most of these sizes: the one to point at when they are judged wrongly."""
        reach = Reach(self.script)
        wanted = {knob for knob, symbol in self.knobs.items() if symbol in symbols}
        return max(self.guards, key=lambda guard: len(reach.knobs(reach.read_by(guard)) & wanted))

    def decides_more(self, symbols: Collection[str]) -> bool:
        """Whether a guard of these sizes looks at knobs that are none of the mesh: then it may have other reasons."""
        reach = Reach(self.script)
        wanted = {knob for knob, symbol in self.knobs.items() if symbol in symbols}
        reads = (reach.knobs(reach.read_by(guard)) for guard in self.guards)
        return any(not knobs.isdisjoint(wanted) and not knobs <= self.knobs.keys() for knobs in reads)

    @property
    def cut(self) -> int:
        """The byte offset after the last statement that guards, derives or prints the mesh."""
        reach = Reach(self.script)
        ends = [end for guard in self.guards for end in _ends(guard, reach)]
        ends += [item.end for item in self.derived if item.function is None]
        ends += [
            site.end
            for site in self.script.commands
            if site.name in ("echo", "printf") and _prints_derived(site.words)
        ]
        return max((end for end in ends if _before(end, self.shown)), default=0)

    def prove(self, root: Path, limit: int = 3000) -> Proof | None:
        """Try the guard over the default grid; None when the sandbox could not judge the launcher's own defaults."""
        judge = _Judge(self, root)
        grid = Grid.around(self.defaults, limit)
        verdicts = judge(grid.assignments)
        if not verdicts or verdicts[0] is None:
            return None
        proof = self._compared(verdicts, grid)
        return (
            self._compared(judge.without_others(grid.assignments, verdicts), grid) if proof.strict else proof
        )

    def _compared(self, verdicts: Sequence[Verdict | None], grid: Grid) -> Proof:
        return prove(self.shown.mesh.backend, self.fixed, self.knobs, lambda _: verdicts, grid)

    def unguarded(self) -> Script:
        """Return the script with its mesh guards blanked out, all else where it was."""
        data = self.script.data
        for guard in self.guards:
            # Not ":", which is left out where it has a line to itself: a function must have a body.
            blank = b"true" + _TEXT.sub(b" ", data[guard.start + 4 : guard.end])
            data = data[: guard.start] + blank + data[guard.end :]
        return parse(self.script.path, data)


class _Judge:
    def __init__(self, case: GuardCase, root: Path) -> None:
        self._case, self._root = case, root

    def without_others(
        self, assignments: Sequence[dict[str, int]], verdicts: Sequence[Verdict | None]
    ) -> Sequence[Verdict | None]:
        """Return the verdicts, None for a launch that stops without the mesh guards, too: at a limit of its author."""
        stopped = [place for place, verdict in enumerate(verdicts) if verdict and not verdict.accepted]
        script = self._case.unguarded()
        again = self([assignments[place] for place in stopped], script)
        others = {
            place for place, verdict in zip(stopped, again, strict=True) if not (verdict and verdict.accepted)
        }
        return [None if place in others else verdict for place, verdict in enumerate(verdicts)]

    def __call__(
        self, assignments: Sequence[dict[str, int]], script: Script | None = None
    ) -> Sequence[Verdict | None]:
        from example_sanity.launch.evaluator import guard_runs

        case = self._case
        capture = sorted({item.name for item in case.derived})
        given = [{name: str(size) for name, size in assignment.items()} for assignment in assignments]
        scenario = case.shown.launch.scenario
        runs = guard_runs(script or case.script, case.cut, given, capture, self._root, scenario)
        return [Verdict(run.accepted, _derived(run.values, run.stdout)) if run else None for run in runs]


def _derived(variables: Mapping[str, str], stdout: str) -> dict[str, int]:
    """The derived sizes that a run showed; what it printed counts before its variables."""
    shown: dict[str, int] = {}
    for name, text in variables.items():
        spelled, size = _VARIABLE.fullmatch(name), whole_number(text)
        if spelled and size is not None:
            shown[spelled[1].lower()] = size
    shown.update({name.lower(): int(size) for name, size in _PRINTED.findall(stdout)})
    return shown


def _prints_derived(words: Sequence[object]) -> bool:
    return any(
        re.search(r"(?<![\w.])e?dp(?:_size)?\s*[=:]\s*\"?\$", str(getattr(w, "text", "")), re.I)
        for w in words
    )


def guard_case(shown: LaunchMesh) -> GuardCase | None:
    """Return the case of a launch, or None when the launcher checks no mesh, or computes a size in its own way."""
    script = shown.launch.script
    reach = Reach(script)
    knobs: dict[str, str] = {}
    defaults: dict[str, int] = {}
    fixed: dict[str, int] = {}
    for symbol, size, target in factors(shown):
        name = reach.overridable.get(shown.knob(symbol) or "")
        if name is not None:
            knobs[name], defaults[name] = target, size
        elif reach.knobs(shown.feeds(symbol)):
            return None  # the size is computed from knobs in a way that the algebra does not know
        else:
            fixed[target] = fixed.get(target, 1) * size
    guards = tuple(guard for guard in script.guards if reach.knobs(reach.read_by(guard)) & knobs.keys())
    # A function that nobody calls guards nothing.
    guards = tuple(
        guard for guard in guards if _checks_mesh(guard, reach, knobs) and any(_ends(guard, reach))
    )
    if not guards or any(_is_opaque(guard, reach) or _is_late(guard, reach, shown) for guard in guards):
        return None
    return GuardCase(script, shown, guards, knobs, defaults, fixed)


def _ends(guard: Guard, reach: Reach) -> list[int]:
    """Where the top-level statements end in which a guard runs: its own, or those that call its function."""
    return [guard.statement_end] if guard.function is None else list(reach.ends(guard.function))


def _before(end: int, shown: LaunchMesh) -> bool:
    script, launched = shown.launch.script, shown.entry.command.site.span.line
    return script.data.count(b"\n", 0, end) + 1 < launched


def _is_late(guard: Guard, reach: Reach, shown: LaunchMesh) -> bool:
    """Whether a guard runs in the statement that launches: the script cannot be cut between the two."""
    return not all(_before(end, shown) for end in _ends(guard, reach))


def _checks_mesh(guard: Guard, reach: Reach, knobs: Mapping[str, str]) -> bool:
    """Whether a guard does arithmetic with a size of the mesh besides the world.

    Tests for a number, an upper limit or a node that has no address stop a launch, too, and are no rule of the mesh.
    """
    parts = {name for name, symbol in knobs.items() if symbol != "world"}
    read = reach.read_by(guard)
    computed = [(guard.condition, read), *((reach.text_of(name), read) for name in reach.asked(guard))]
    computed += [(item.value, item.reads) for item in reach.assignments(read)]
    return any(_ARITHMETIC.search(text) and reach.knobs(reads) & parts for text, reads in computed)


def _is_opaque(guard: Guard, reach: Reach) -> bool:
    """Whether a guard asks a program (``python -c``) whose answer nobody knows without running it."""
    fed = reach.assignments(reach.read_by(guard))
    places = [(guard.start, guard.end), *((item.start, item.end) for item in fed)]
    places += [reach.functions[name] for name in reach.asked(guard) if name in reach.functions]
    asked = (
        site
        for site in reach.script.commands
        if any(start <= site.start < end for start, end in places)
        and (site.start >= guard.end or site.start < guard.start or site.words[0].text in guard.condition)
    )
    known = world.BUILTINS | world.NATIVE | world.SILENT | {*reach.script.functions}
    return any(site.name not in known for site in asked)


def factors(shown: LaunchMesh) -> Iterator[tuple[str, int, str]]:
    """The sizes that a launch sets, each with the symbol it counts for: nodes and GPUs per node make the world."""
    given = dict(shown.mesh.given)
    if world := shown.world_parts:
        given = {**given, **world}
    if {"nnodes", "gpn"} <= given.keys():
        del given["world"]
    for symbol, size in given.items():
        yield symbol, size, "world" if symbol in ("nnodes", "gpn") else symbol
