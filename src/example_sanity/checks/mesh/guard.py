"""Puts a launcher's own mesh check to the proof: finds its knobs and its guard, and lets the sandbox be the judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from example_sanity.checks.mesh.bridge import LaunchMesh
from example_sanity.launch.syntax import Assignment, DefaultKind, Guard, Script
from example_sanity.parallel.grid import Grid
from example_sanity.parallel.guard import Proof, Verdict, prove
from example_sanity.parallel.mesh import whole_number

# How launchers spell derived sizes in variables (DP, DP_SIZE, EDP) and in what they print (dp=4, EDP: 2).
_VARIABLE = re.compile(r"(E?DP)(?:_SIZE|_WORLD_SIZE)?", re.IGNORECASE)
_PRINTED = re.compile(r"(?<![\w.])(e?dp)(?:_size)?\s*[=:]\s*(\d+)(?![\w.])", re.IGNORECASE)


@dataclass(frozen=True)
class GuardCase:
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
        reach = _Reach(self.script)
        return tuple(
            item
            for item in self.script.assignments
            if _VARIABLE.fullmatch(item.name) and reach.knobs(item.reads) & self.knobs.keys()
        )

    def guard_of(self, symbols: Collection[str]) -> Guard:
        """Return the guard that looks at most of these sizes: the one to point at when they are judged wrongly."""
        reach = _Reach(self.script)
        wanted = {knob for knob, symbol in self.knobs.items() if symbol in symbols}
        return max(self.guards, key=lambda guard: len(reach.knobs(guard.reads) & wanted))

    @property
    def cut(self) -> int:
        """The byte offset after the last statement that guards, derives or prints the mesh."""
        ends = [guard.statement_end for guard in self.guards] + [item.end for item in self.derived]
        ends += [
            site.end
            for site in self.script.commands
            if site.name in ("echo", "printf") and _prints_derived(site.words)
        ]
        launched = self.shown.entry.command.site.span.line
        before = [end for end in ends if self.script.data.count(b"\n", 0, end) + 1 < launched]
        return max(before, default=0)

    def prove(self, root: Path, limit: int = 3000) -> Proof | None:
        """Try the guard over the default grid; None when the sandbox could not judge the launcher's own defaults."""
        judge = _Judge(self, root)
        grid = Grid.around(self.defaults, limit)
        verdicts = judge(grid.assignments)
        if not verdicts or verdicts[0] is None:
            return None
        return prove(self.shown.mesh.backend, self.fixed, self.knobs, lambda _: verdicts, grid)


class _Judge:
    def __init__(self, case: GuardCase, root: Path) -> None:
        self._case, self._root = case, root

    def __call__(self, assignments: Sequence[dict[str, int]]) -> Sequence[Verdict | None]:
        from example_sanity.launch.evaluator import guard_runs

        case = self._case
        capture = sorted({item.name for item in case.derived})
        given = [{name: str(size) for name, size in assignment.items()} for assignment in assignments]
        scenario = case.shown.launch.scenario
        runs = guard_runs(case.script, case.cut, given, capture, self._root, scenario)
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
    reach = _Reach(script)
    knobs: dict[str, str] = {}
    defaults: dict[str, int] = {}
    fixed: dict[str, int] = {}
    for symbol, size, target in _factors(shown):
        name = reach.overridable.get(shown.knob(symbol) or "")
        if name is not None:
            knobs[name], defaults[name] = target, size
        elif reach.knobs(shown.feeds(symbol)):
            return None  # the size is computed from knobs in a way that the algebra does not know
        else:
            fixed[target] = fixed.get(target, 1) * size
    guards = tuple(guard for guard in script.guards if reach.knobs(guard.reads) & knobs.keys())
    return GuardCase(script, shown, guards, knobs, defaults, fixed) if guards and knobs else None


def _factors(shown: LaunchMesh) -> Iterator[tuple[str, int, str]]:
    """The sizes that a launch sets, each with the symbol it counts for: nodes and GPUs per node make the world."""
    given = dict(shown.mesh.given)
    if world := shown.world_parts:
        given = {**given, **world}
    if {"nnodes", "gpn"} <= given.keys():
        del given["world"]
    for symbol, size in given.items():
        yield symbol, size, "world" if symbol in ("nnodes", "gpn") else symbol


class _Reach:
    """Which knobs a variable depends on, through any number of assignments."""

    def __init__(self, script: Script) -> None:
        self._reads: dict[str, set[str]] = {}
        for item in script.assignments:
            self._reads.setdefault(item.name, set()).update(item.reads)
        self.overridable = {
            item.name: item.via or item.name
            for item in script.assignments
            if item.kind is not DefaultKind.FIXED and not item.array
        }

    def knobs(self, names: Sequence[str]) -> set[str]:
        """Return the names in the environment that feed any of ``names``."""
        seen: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._reads.get(name, ())
        return {via for name, via in self.overridable.items() if name in seen}
