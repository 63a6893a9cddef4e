"""From a launch to its meshes: settings become sizes, and every size remembers the knob and the word that set it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from example_sanity.checks.mesh.editions import of_repository
from example_sanity.checks.mesh.machine import machine, scheduled, stable_options
from example_sanity.checks.mesh.repository import Repository
from example_sanity.core.finding import Related
from example_sanity.launch.command import Entry, Launch, Origin
from example_sanity.launch.settings import Setting, Settings, settings
from example_sanity.parallel.backends import plans
from example_sanity.parallel.mesh import Mesh, Violation, whole_number

TORCHRUN_SIZES = {"nnodes": "nnodes", "gpn": "nproc_per_node"}

# The value of a setting that depends on a placeholder: no size, so nothing is concluded from it.
UNKNOWN = "<unknown>"


class LaunchMesh(msgspec.Struct, frozen=True):
    """One mesh of one entry of a launch, with the settings that its sizes came from."""

    launch: Launch
    entry: Entry
    settings: Settings
    mesh: Mesh

    def setting(self, symbol: str) -> Setting | None:
        """Return the setting that carries a size, or None where the backend's default does."""
        key = self.mesh.origin.get(symbol)
        return self.settings.get(key) if key else None

    def knob(self, symbol: str) -> str | None:
        """Return the variable whose value the size is, or None where it is no plain variable."""
        setting = self.setting(symbol)
        raw = setting.raw if setting else str(self.world_parts.get(symbol))
        variables = self.launch.variables
        return next((name for name in self.feeds(symbol) if variables.get(name) == raw), None)

    def feeds(self, symbol: str) -> tuple[str, ...]:
        """Return the variables that the word of a size expands, nearest first."""
        setting = self.setting(symbol)
        if setting is not None:
            return value_knobs(self.entry, setting)
        option = TORCHRUN_SIZES.get(symbol)
        return option_origin(self.entry, option) if option and symbol in self.world_parts else ()

    @property
    def world_parts(self) -> dict[str, int]:
        """Nodes and processes per node where torchrun decides the world; empty where the settings do."""
        if "nnodes" in self.mesh.given or "torchrun" not in {item.kind for item in self.entry.launchers}:
            return {}
        options = stable_options(self.launch, self.entry, "torchrun")
        sizes = {symbol: whole_number(options.get(name, 1)) for symbol, name in TORCHRUN_SIZES.items()}
        known = {symbol: size for symbol, size in sizes.items() if size}
        return known if math.prod(known.values()) == self.mesh.given.get("world") else {}

    @property
    def names(self) -> dict[str, str]:
        """What the launcher calls each size, for messages: the knob where there is one, else the key."""
        symbols = [key.symbol for key in (*self.mesh.backend.keys, *self.mesh.backend.world)]
        sizes = {symbol: self.knob(symbol) or self.mesh.key(symbol) or symbol for symbol in symbols}
        others = {key.symbol: self.knob(key.symbol) for key in self.mesh.backend.facts}
        return {**{symbol: knob for symbol, knob in others.items() if knob}, **sizes}

    def origin_of(self, violation: Violation) -> Origin:
        """Return the place to point at: the setting that the smallest change touches, else one that takes part."""
        changed = [symbol for symbol, _ in violation.suggestion.changes] if violation.suggestion else []
        for symbol in (*changed, *self.mesh.involved(violation.constraint)):
            setting = self.setting(symbol)
            if setting is not None:
                return setting.origin
        places = (option_place(self.entry, option) for option in TORCHRUN_SIZES.values())
        return next((place for place in places if place is not None), self.entry.command.site)

    def related(self, violation: Violation, shown: Origin) -> tuple[Related, ...]:
        """Return the other settings that take part, each with its size."""
        found = []
        for symbol in dict.fromkeys((*self.mesh.involved(violation.constraint), "nnodes", "gpn")):
            setting = self.setting(symbol)
            if setting is not None and setting.origin != shown and setting.origin.exact:
                label = _label(symbol, self.mesh.values[symbol], setting)
                found.append(Related(setting.origin.path, setting.origin.span, label))
        return tuple(found)


def _label(symbol: str, size: int, setting: Setting) -> str:
    """What a setting says: its size, or the word that a constraint asks for (``name = vllm``)."""
    if setting.raw.isidentifier():
        return f"{setting.key.rpartition('.')[2]} = {setting.raw}"
    return f"{symbol} = {size}"


def launch_plans(launch: Launch, repository: Repository | None = None) -> tuple[LaunchMesh, ...]:
    """Return the meshes of a launch, entry by entry, with all that is known of each; files are those of ``repository``."""
    found: list[LaunchMesh] = []
    known_files = repository or Repository()
    for entry in launch.entries:
        given = known_files.with_files(settings(entry), entry)
        read = values(given, launch, entry)
        known = machine(launch, entry, read, known_files.read)
        program = entry.module or entry.file
        shown = plans(read, program, known.world, machine=known.facts, model=known_files.model)
        held = (of_repository(mesh, program, read, known_files) for mesh in shown)
        found += [LaunchMesh(launch, entry, given, mesh) for mesh in held]
    return tuple(found)


def launch_meshes(launch: Launch, repository: Repository | None = None) -> tuple[LaunchMesh, ...]:
    """Return the meshes of a launch whose sizes are all known; a role with the sizes of an earlier one is left out."""
    return complete(launch_plans(launch, repository))


def complete(plans: Iterable[LaunchMesh]) -> tuple[LaunchMesh, ...]:
    """Return those meshes whose sizes are all known; a role with the sizes of an earlier one is left out."""
    found: dict[object, LaunchMesh] = {}
    for shown in plans:
        sizes = tuple(shown.mesh.sizes.items())
        if shown.mesh.complete:
            found.setdefault((id(shown.entry), shown.mesh.backend.name, sizes), shown)
    return tuple(found.values())


def value_knobs(entry: Entry, item: Setting) -> tuple[str, ...]:
    """Return the variables that the value of a setting expands, nearest first; a flag's stands in the next word."""
    origins, word = entry.command.origins, item.word + 1
    apart = item.operation == "flag" and "=" not in entry.command.argv[item.word]
    return origins[word].knobs if apart and word < len(origins) else item.origin.knobs


def values(given: Settings, launch: Launch, entry: Entry) -> Mapping[str, object]:
    """Return key → value as the trainer sees it: the last one wins, deletions delete, unknown values are no sizes."""
    result: dict[str, object] = {}
    for item in given:
        if item.operation == "delete":
            result.pop(item.key, None)
        else:
            known = item.stable and not scheduled(launch, value_knobs(entry, item))
            result[item.key] = item.value if known else UNKNOWN
    return result


def option_origin(entry: Entry, option: str) -> tuple[str, ...]:
    """Return the variables that feed an option of the launcher, written ``--name=value`` or ``--name value``."""
    origins = entry.command.origins
    for index, word in enumerate(entry.command.argv[: len(origins)]):
        name, equals, _ = word.lstrip("-").replace("-", "_").partition("=")
        if word.startswith("-") and name == option:
            place = index if equals else index + 1
            return origins[place].knobs if place < len(origins) else ()
    return ()


def option_place(entry: Entry, option: str) -> Origin | None:
    """Return where the launcher's option is written, or None where that is not known."""
    origins = entry.command.origins
    for word, origin in zip(entry.command.argv, origins, strict=False):
        if word.startswith("-") and word.lstrip("-").replace("-", "_").partition("=")[0] == option:
            return origin
    return None
