"""``show`` and ``plan``: what a launcher would run, and the mesh that it would run on, as data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from example_sanity.checks.mesh.bridge import LaunchMesh, complete, launch_meshes
from example_sanity.checks.mesh.constraints import planned
from example_sanity.checks.mesh.guard import guard_case
from example_sanity.checks.overrides.defaults import defaults
from example_sanity.checks.overrides.pinning import told
from example_sanity.core.errors import Uninspectable, UsageError
from example_sanity.core.rule import Subject
from example_sanity.core.runner import Run
from example_sanity.launch.command import Entry, Launch, Origin
from example_sanity.launch.settings import Setting, settings
from example_sanity.launch.syntax import Assignment, DefaultKind, Script
from example_sanity.parallel import draw as drawings
from example_sanity.parallel.guard import Example, Proof
from example_sanity.parallel.mesh import Mesh
from example_sanity.report.json import span
from example_sanity.report.model import Plan
from example_sanity.report.suggestions import NO_MORE, More, suggested
from example_sanity.schema.hydra.model import Leaf

Data = dict[str, Any]
_MOST_DRAWN = 1024  # ranks: beyond that a grid is no longer read, and takes long to show


def evaluate(run: Run, path: Path) -> tuple[Script, list[Launch], list[str]]:
    """Return the structure of a script, its evaluations, and why a scenario could not be evaluated.

    Raises UsageError when the file is no shell script or cannot be read or parsed at all.
    """
    name = run.project.relative(path)
    if path.is_dir() or not run.project.is_shell(name):
        raise UsageError(f"{path} is no shell script")
    try:
        (script,) = run.load(Subject.SCRIPT, name)
        launches = [cast("Launch", item) for item in run.load(Subject.LAUNCH, name)]
    except Uninspectable as error:
        raise UsageError(f"{path}: {error.message}") from error
    problems = [
        f"{', '.join(problem.scenarios)}: {problem.message}"
        for problem in run.problems
        if problem.path == name
    ]
    return cast("Script", script), launches, problems


def show_data(
    script: Script, launches: Sequence[Launch], problems: Sequence[str], run: Run | None = None
) -> Data:
    """Return the launch plan: knobs, scenarios, the launches of the first scenario, meshes of all.

    With a run the settings tell the defaults that they override, where the program's configuration is known.
    """
    first = launches[0] if launches else None
    return {
        "version": 1,
        "path": script.path,
        "knobs": [_knob(item, script, first) for item in _knobs(script)],
        "scenarios": [_scenario(launch) for launch in launches],
        "launches": [_launch(entry, script, run) for entry in (first.entries if first else ())],
        "mesh": [mesh_data(shown) for launch in launches for shown in _meshes(launch, run)],
        "pins": told(script, first.entries, run) if first and run else [],
        "problems": list(problems),
    }


def launch_plans(run: Run, paths: Sequence[str]) -> list[Plan]:
    """Return the launch plans of those scripts that launch something, with their meshes drawn."""
    found = []
    for path in paths:
        try:
            script, launches, problems = evaluate(run, run.project.root / path)
        except UsageError:
            continue  # a finding says why it could not be inspected
        if any(launch.entries for launch in launches):
            meshes = [shown.mesh for launch in launches for shown in _meshes(launch, run)]
            data = show_data(script, launches, problems, run)
            found.append(Plan(data, tuple(_drawing(mesh) for mesh in meshes)))
    return found


def _meshes(launch: Launch, run: Run | None) -> tuple[LaunchMesh, ...]:
    return complete(planned(launch, run)) if run else launch_meshes(launch)


def _drawing(mesh: Mesh) -> str | None:
    return drawings.svg(mesh) if mesh.buildable and mesh.sizes["world"] <= _MOST_DRAWN else None


def _knobs(script: Script) -> list[Assignment]:
    """The variables that the environment can set, each at its first place."""
    found: dict[str, Assignment] = {}
    for item in script.assignments:
        if item.kind is not DefaultKind.FIXED and item.function is None:
            found.setdefault(item.name, item)
    return list(found.values())


def _knob(item: Assignment, script: Script, launch: Launch | None) -> Data:
    line = item.span.line
    region = next((r.title for r in script.regions if r.first_line <= line <= r.last_line), None)
    return {
        "name": item.via or item.name,
        "variable": item.name,
        "region": region,
        "default": item.default,
        "required": item.kind is DefaultKind.REQUIRED,
        "value": launch.variables.get(item.name) if launch else None,
        "line": line,
    }


def _scenario(launch: Launch) -> Data:
    scenario = launch.scenario
    return {
        "name": scenario.name,
        "environment": scenario.environment,
        "placeholders": scenario.placeholders,
        "status": launch.status,
        "launches": len(launch.entries),
        "stderr": launch.stderr.strip().splitlines()[-3:] if launch.status else [],
    }


def _launch(entry: Entry, script: Script, run: Run | None) -> Data:
    given = settings(entry)
    known = defaults(entry, script, run) if run else {}
    return {
        "kind": entry.kind,
        "program": entry.module or entry.file,
        "argv": list(entry.command.argv),
        "origins": [_origin(item) for item in entry.command.origins],
        "env": entry.command.environment,
        "options": entry.options,
        "settings": [_setting(item, known.get(item.key)) for item in given],
    }


def _origin(item: Origin) -> Data:
    return {
        "path": item.path,
        **span(item.span),
        "exact": item.exact,
        "group": item.group,
        "knobs": list(item.knobs),
    }


def _setting(item: Setting, leaf: Leaf | None) -> Data:
    shown = {"default": leaf.value, "default_at": leaf.where or None} if leaf else {}
    return {
        "key": item.key,
        "value": item.value,
        "raw": item.raw,
        "operation": item.operation,
        "line": item.origin.span.line,
        "group": item.origin.group,
        "stable": item.stable,
        "word": item.word,
        **shown,
    }


def without_defaults(data: Data) -> Data:
    """Return the launch plan with those settings only that are known to differ from their defaults, or have none."""
    launches = []
    for launch in data["launches"]:
        kept = [
            item
            for item in launch["settings"]
            if item["operation"] != "flag" and ("default" not in item or item["default"] != item["value"])
        ]
        launches.append({**launch, "settings": kept, "only": [item["word"] for item in kept]})
    return {**data, "launches": launches}


def mesh_data(shown: LaunchMesh) -> Data:
    """Return one mesh: sizes, derived sizes, and what is wrong with it."""
    mesh = shown.mesh
    return {
        "scenario": shown.launch.scenario.name,
        "backend": mesh.backend.name,
        "role": mesh.backend.role,
        "world": mesh.sizes["world"],
        "sizes": {symbol: size for symbol, size in mesh.sizes.items() if symbol != "world"},
        "origin": {symbol: key for symbol, key in mesh.origin.items() if symbol in mesh.sizes},
        "legal": mesh.legal,
        "violations": [
            {"id": v.constraint.id, "code": v.constraint.code, "message": v.text(shown.names)}
            for v in mesh.violations
        ],
        "derived": dict(mesh.derived),
        "splits": {split.derived: list(split.parts) for split in mesh.backend.splits},
    }


def plan_data(
    script: Script,
    launches: Sequence[Launch],
    problems: Sequence[str],
    run: Run,
    more: More = NO_MORE,
) -> Data:
    """Return every mesh of every scenario, each with the verdict on the launcher's guard (null: it has none).

    With suggestions the guard is not proved: that takes ten times as long, and was not asked for. ``more`` may add the grids of ranks of every mesh that can be built, as text, and the nearest legal sizes.
    """
    plans = []
    known: dict[object, Data] = {}
    for launch in launches:
        for shown in _meshes(launch, run):
            asked = not more.suggest and launch.scenario.name == launches[0].scenario.name
            case = guard_case(shown) if asked else None
            proof = case.prove(run.project.root) if case else None
            drawing = {"drawing": drawings.text(shown.mesh)} if more.draw and shown.mesh.buildable else {}
            plans.append(
                {
                    **mesh_data(shown),
                    "guard": _guard(proof) if proof else None,
                    **drawing,
                    **_once(known, shown, more),
                }
            )
    return {"version": 1, "path": script.path, "plans": plans, "problems": list(problems)}


def _once(known: dict[object, Data], shown: LaunchMesh, more: More) -> Data:
    """The nearest sizes of a mesh; scenarios mostly have the same one."""
    mesh = shown.mesh
    same = (mesh.backend.name, mesh.backend.role, tuple(mesh.values.items()), tuple(shown.names.items()))
    if same not in known:
        known[same] = suggested(shown, more)
    return known[same]


def _guard(proof: Proof) -> Data:
    return {
        "exact": proof.exact,
        "tried": proof.tried,
        "accepted": proof.accepted,
        "undecided": proof.undecided,
        "unsound": _example(proof.unsound),
        "strict": _example(proof.strict),
        "wrong_derived": [
            {"size": w.symbol, "shown": w.shown, "right": w.right, **(_example(w.example) or {})}
            for w in proof.wrong_derived
        ],
    }


def _example(example: Example | None) -> Data | None:
    if example is None:
        return None
    mesh = example.mesh
    problems = [rule.problem(mesh.values) for rule in mesh.backend.violated(mesh.sizes)]
    return {
        "changed": dict(example.changed),
        "knobs": dict(example.knobs),
        "problems": problems,
        **_sizes(example),
    }


def _sizes(example: Example) -> Data:
    return {"world": example.mesh.sizes["world"], "derived": dict(example.mesh.derived)}


def fails(plan: Data) -> bool:
    """Whether a mesh is illegal or a guard wrong."""
    return any(not item["legal"] or (item["guard"] and not item["guard"]["exact"]) for item in plan["plans"])
