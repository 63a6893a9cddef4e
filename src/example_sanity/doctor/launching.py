"""Judge what a launcher starts: its modules, the folders of PYTHONPATH, what shadows what, and its GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from example_sanity.checks.mesh.bridge import LaunchMesh, launch_meshes
from example_sanity.checks.mesh.repository import Repository
from example_sanity.doctor import modules
from example_sanity.doctor.asked import Place
from example_sanity.doctor.environment import Distribution, Environment
from example_sanity.doctor.findings import Kind, Statement, Verdict, mismatch, note
from example_sanity.doctor.gpus import Gpus
from example_sanity.doctor.modules import Folder
from example_sanity.launch.command import Entry, Launch
from example_sanity.launch.syntax import DefaultKind
from example_sanity.report.model import counted

# Every other wheel leaves such a folder at the top by mistake; nothing is started from it.
_LITTER = frozenset(
    {"tests", "test", "docs", "examples", "scripts", "tools", "benchmarks", "setup", "conftest"}
)


def judge_entry(
    entry: Entry, launch: Launch, root: Path, environment: Environment, asked: AbstractSet[str]
) -> Verdict:
    """Return what is wrong with what one entry would import. ``asked`` are the distributions that are asked for."""
    place = _place(entry)
    before = modules.folders(entry, launch, root)
    total = _folders(before, launch, place)
    where = modules.search_path(entry, before, root, environment)
    started = entry.module
    if started:
        total += _module(started, where, environment, place, _uncertain(before, launch))
    wanted = {started.partition(".")[0]} if started else set()
    for distribution in environment.distributions.values():
        if distribution.name in asked:
            wanted |= distribution.regular - _LITTER
    first = where[: len(where) - len(environment.folders) - len(environment.editable_folders)]
    for package in sorted(wanted):
        total += _shadowed(package, first, root, environment, place)
    return total


def _place(entry: Entry) -> Place:
    site = entry.command.site
    return Place(site.path, site.span.line, entry.module or entry.file or "")


def _uncertain(before: Sequence[Folder], launch: Launch) -> str | None:
    """Why a module that is not found may be there all the same."""
    if any(folder.path is None for folder in before):
        return "PYTHONPATH depends on a variable that has to be given with --env"
    if any(site.name in {"cd", "pushd"} for site in launch.script.commands):
        return "the launcher changes its folder"
    return None


def _folders(before: Sequence[Folder], launch: Launch, place: Place) -> Verdict:
    total = Verdict()
    for folder in before:
        if folder.path is None:
            words = f"PYTHONPATH holds {folder.words}, which depends on a variable that has to be given with --env"
            total += note(Statement(Kind.UNKNOWN, folder.words, words, (place,)))
    gone = [folder for folder in before if folder.path and not folder.path.is_dir()]
    if gone:
        names = ", ".join(str(folder.path) for folder in gone)
        words = f"PYTHONPATH holds {names}, and there is no such folder"
        knob = _knob_of([folder.words for folder in gone], launch)
        fix = f"set {knob} to a folder that exists" if knob else None
        total += mismatch(Statement(Kind.FOLDER, "PYTHONPATH", words, (place,), fix))
    return total


def _knob_of(paths: Sequence[str], launch: Launch) -> str | None:
    """The variable for the user to set that all paths start with: the one with the longest value."""
    names = {item.name for item in launch.script.assignments if item.kind is not DefaultKind.FIXED}
    values = {name: launch.variables.get(name, "") for name in sorted(names)}
    fitting = [
        name
        for name, value in values.items()
        if len(value) > 1 and all(path.startswith(value) for path in paths)
    ]
    return max(fitting, key=lambda name: len(values[name]), default=None)


def _module(
    module: str, where: Sequence[Path], environment: Environment, place: Place, uncertain: str | None
) -> Verdict:
    top = module.partition(".")[0]
    hooked = environment.editable_packages.get(top)
    if modules.holds(module, where) or (hooked and modules.holds(module, [hooked.parent])):
        return Verdict()
    found = modules.look(top, where)
    name = f"{module} cannot be found"
    if found or hooked:
        owner = next(iter(modules.providers(top, environment)), None)
        there = (
            f"{owner.name} {owner.version}" if owner and found and _within(found.path, owner.folder) else None
        )
        words = f"{name}: {top} is {found.path if found else hooked}{f' ({there})' if there else ''}, and has no such module"
    else:
        words = f"{name}: no {top} in the current folder, PYTHONPATH or the environment"
    if uncertain:
        return note(Statement(Kind.UNKNOWN, module, f"{words}; {uncertain}", (place,)))
    return mismatch(Statement(Kind.MODULE, module, words, (place,)))


def _within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _shadowed(
    package: str, first: Sequence[Path], root: Path, environment: Environment, place: Place
) -> Verdict:
    """A regular package in a folder of the launcher's comes before the installed distribution of the same package."""
    found = modules.look(package, first)
    if found is None or not found.regular:
        return Verdict()
    total = Verdict()
    for owner in modules.providers(package, environment)[:1]:
        reason = "the folder it starts in" if found.path.parent in (first[0], root) else "PYTHONPATH"
        words = f"{package} comes from {found.path} ({reason}), which hides {owner.name} {owner.version} in {owner.folder}"
        fix = f"pip install -e {found.path.parent}, or pip uninstall {owner.name}"
        total += mismatch(Statement(Kind.SHADOWED, package, words, (place,), fix))
    return total


def twice(environment: Environment, asked: AbstractSet[str]) -> Verdict:
    """Return what two distributions provide, or what is installed twice, of the distributions that are asked for."""
    total = Verdict()
    providers: dict[str, list[Distribution]] = {}
    for item in environment.all:
        for package in item.regular - _LITTER:
            providers.setdefault(package, []).append(item)
    told = set()
    for package in sorted(providers):
        several = providers[package]
        names = tuple(dict.fromkeys(item.name for item in several))
        if len(several) > 1 and asked & set(names) and names not in told:
            told.add(names)
            total += mismatch(_twice(package, several))
    return total


def _twice(package: str, several: Sequence[Distribution]) -> Statement:
    all_of_them = ", ".join(f"{item.name} {item.version} ({item.folder})" for item in several)
    names = list(dict.fromkeys(item.name for item in several))
    what = "is installed more than once" if len(names) == 1 else "is provided by more than one distribution"
    words = f"{package} {what}: {all_of_them}; the files of one overwrite or hide those of the other"
    again = f"pip uninstall {' '.join(names)}, then install the one that is wanted"
    return Statement(Kind.SHADOWED, package, words, (), again)


def compare_gpus(launch: Launch, gpus: Gpus, repository: Repository | None = None) -> tuple[Verdict, str]:
    """Return what is wrong with the GPUs of this machine, and a sentence on them and the launcher's mesh."""
    here = _gpus_here(gpus)
    shown = max(launch_meshes(launch, repository), key=lambda item: item.mesh.sizes["world"], default=None)
    if shown is None:
        return Verdict(), f"{here}; how many the launcher wants is not known"
    if any(site.name == "nvidia-smi" for site in launch.script.commands):
        return Verdict(), f"{here}; the launcher asks nvidia-smi how many there are"
    wanted, words = _wanted(shown)
    if gpus.problem or len(gpus.names) >= wanted:
        return Verdict(), f"{here}; {words}"
    setting = shown.setting("gpn") or shown.setting("world")
    place = setting.origin if setting else shown.entry.command.site
    knob = shown.knob("gpn")
    fix = f"run with {knob}={len(gpus.names)}" if knob and gpus.names else None
    statement = Statement(
        Kind.GPUS, "gpus", f"{here}; {words}", (Place(place.path, place.span.line, ""),), fix
    )
    return mismatch(statement), f"{here}; {words}"


def _wanted(shown: LaunchMesh) -> tuple[int, str]:
    """How many GPUs the launcher wants on one node, and that in words."""
    sizes = shown.mesh.sizes
    world, nodes = sizes["world"], sizes.get("nnodes", 1)
    per_node = sizes.get("gpn") or world // max(nodes, 1)
    spread = f" ({counted(nodes, 'node')} of {per_node})" if nodes > 1 else ""
    return per_node, f"the launcher wants {counted(world, 'GPU')}{spread}"


def _gpus_here(gpus: Gpus) -> str:
    if gpus.problem:
        return f"no GPU is visible ({gpus.problem})"
    models = ", ".join(dict.fromkeys(gpus.names))
    hidden = f", {gpus.hidden} more hidden by CUDA_VISIBLE_DEVICES" if gpus.hidden else ""
    return f"{counted(len(gpus.names), 'GPU')} visible{f' ({models})' if models else ''}{hidden}"


def values(launches: Sequence[Launch]) -> Iterator[str]:
    """Yield the values that the entries pass to their programs."""
    for launch in launches:
        for entry in launch.entries:
            for index in entry.arguments:
                if index not in entry.command.unstable:
                    yield entry.command.argv[index].rpartition("=")[2].strip("\"'")
