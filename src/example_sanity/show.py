"""``show`` and ``plan``: what a launcher would run, and the mesh that it would run on, as data and as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
from example_sanity.report.suggestions import NO_MORE, More, suggested, suggestion_lines
from example_sanity.schema.hydra.model import Leaf

Data = dict[str, Any]
NOT_AT_HAND = "not checked, its git objects are not at hand (name a checkout of it in source-roots) and no such release is shipped"
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


def show_text(data: Data) -> Iterator[str]:
    """Yield the lines of the launch plan."""
    yield data["path"]
    yield from _knob_lines(data["knobs"])
    yield ""
    yield "Scenarios"
    for item in data["scenarios"]:
        ended = "" if not item["status"] else f", exit status {item['status']}"
        required = f", needs {', '.join(item['placeholders'])}" if item["placeholders"] else ""
        yield f"  {item['name']}: {item['launches']} launched{ended}{required}"
        yield from (f"      {line}" for line in item["stderr"])
    yield from (f"  could not evaluate {problem}" for problem in data["problems"])
    if not data["launches"]:
        yield ""
        yield "Launches nothing in the first scenario."
    for number, launch in enumerate(data["launches"], 1):
        yield ""
        yield from _launch_lines(number, launch)
    if data["pins"]:
        yield ""
        yield "Pins"
        yield from map(_pin_line, data["pins"])
    if data["mesh"]:
        yield ""
        yield "Mesh"
        yield from (line for item in data["mesh"] for line in _mesh_lines(item))


def _pin_line(item: Data) -> str:
    short = item["reference"][:9] if len(item["reference"]) == 40 else item["reference"]
    held = f"checked against {item['against']}" if item["against"] else NOT_AT_HAND
    return f"  {item['package']} {short} ({item['at']}): {held}"


def _knob_lines(knobs: Sequence[Data]) -> Iterator[str]:
    width = max((len(item["name"]) for item in knobs), default=0)
    region: object = ()
    for item in sorted(knobs, key=lambda knob: knob["line"]):
        if item["region"] != region:
            region = item["region"]
            yield ""
            yield f"Knobs: {region}" if region else "Knobs outside every region"
        default = "(required)" if item["required"] else f"{item['default']}"
        resolved = "" if item["value"] in (None, item["default"]) else f"  = {item['value']}"
        yield f"  {item['name']:{width}}  {default}{resolved}  [line {item['line']}]"


def _launch_lines(number: int, launch: Data) -> Iterator[str]:
    """The command with its words in the groups (arrays) that they came from."""
    yield f"Launch {number}: {launch['kind']} {launch['program']}"
    group: object = ()
    origins = launch["origins"] or [None] * len(launch["argv"])
    only = launch.get("only")
    known = {item["word"]: item for item in launch["settings"] if "default" in item}
    for place, (word, origin) in enumerate(zip(launch["argv"], origins, strict=True)):
        if only is not None and place not in only:
            continue
        name = origin["group"] if origin else None
        if name != group:
            group = name
            yield f"  {name}" if name else "  command line"
        yield f"    {_quoted(word)}{_default_text(known.get(place))}"


def _default_text(item: Data | None) -> str:
    """The default that a word overrides, and where it is written."""
    if item is None or isinstance(item["default"], dict):
        return ""
    value = json.dumps(item["default"], ensure_ascii=False, default=str)
    shown = value if len(value) <= 40 else f"{value[:37]}..."
    return f"  [default {shown}{', ' + item['default_at'] if item['default_at'] else ''}]"


def _quoted(word: str) -> str:
    import shlex

    return (
        word
        if word and all(char.isprintable() and char not in " \"'$`\\" for char in word)
        else shlex.quote(word)
    )


def _mesh_lines(item: Data) -> Iterator[str]:
    sizes = {"world": item["world"], **item["sizes"], **item["derived"]}

    def product(*symbols: str) -> str:
        return "·".join(f"{symbol}{sizes.get(symbol, '?')}" for symbol in symbols)

    verdict = "legal" if item["legal"] else "NOT legal"
    yield f"  {item['scenario']}: {item['backend']} ({item['role']}), {verdict}"
    products = [product(*parts, derived) for derived, parts in item["splits"].items()]
    yield "    " + " = ".join([f"{item['world']} GPUs", *products])
    yield from (f"    {violation['code']}: {violation['message']}" for violation in item["violations"])


def plan_text(data: Data) -> Iterator[str]:
    """Yield the lines of the plan."""
    yield data["path"]
    yield from (f"  could not evaluate {problem}" for problem in data["problems"])
    if not data["plans"]:
        yield "  no mesh is known: no entry of a known backend, or a size that depends on what was not given"
    for item in data["plans"]:
        yield from _mesh_lines(item)
        if item["guard"]:
            yield from _guard_lines(item["guard"])
        if "suggestions" in item:
            yield from suggestion_lines(item["suggestions"])
        if "drawing" in item:
            yield from (f"    {line}".rstrip() for line in ["", *item["drawing"].split("\n"), ""])


def _guard_lines(guard: Data) -> Iterator[str]:
    tried = f"{guard['tried']} assignments tried, {guard['accepted']} accepted"
    tried += f", {guard['undecided']} more stop for another reason" if guard["undecided"] else ""
    if guard["exact"]:
        yield f"    guard: exact ({tried})"
        return
    yield f"    guard: WRONG ({tried})"
    if guard["unsound"]:
        yield f"      unsound: accepts {_setting_text(guard['unsound'])}: {'; '.join(guard['unsound']['problems'])}"
    if guard["strict"]:
        yield f"      too strict: rejects {_setting_text(guard['strict'])}: legal, {_derived_text(guard['strict'])}"
    for wrong in guard["wrong_derived"]:
        yield f"      wrong {wrong['size']}: shows {wrong['shown']} for {wrong['right']} with {_setting_text(wrong)}"


def _setting_text(example: Data) -> str:
    return " ".join(f"{knob}={size}" for knob, size in example["changed"].items()) or "the defaults"


def _derived_text(example: Data) -> str:
    return ", ".join(f"{symbol} {size}" for symbol, size in example["derived"].items())
