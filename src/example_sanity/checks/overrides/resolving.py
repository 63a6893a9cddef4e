"""From an entry of a launch to its configuration tree: in the project, in configured folders, installed, or shipped."""

from __future__ import annotations

import importlib.util
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import field

from example_sanity.checks.importing import own_folders, source_roots
from example_sanity.checks.overrides.options import OverridesOptions
from example_sanity.checks.overrides.troubles import (
    Trouble,
    check_folder,
    check_search,
    missing_module,
    not_found,
)
from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.launch.options import is_option
from example_sanity.schema.hydra import shipped
from example_sanity.schema.hydra.combined import CombinedTree
from example_sanity.schema.hydra.mains import HydraMain, hydra_main, located
from example_sanity.schema.hydra.roots import Roots, installed_folders, is_regular, nested_folders
from example_sanity.schema.hydra.trees import LiveTree, Spec, Tree, Workshop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry
    from example_sanity.launch.settings import Setting, Settings
    from example_sanity.schema.argparse.dotlist import Dotlist

_FLAGS = {
    "config-name": "name",
    "cn": "name",
    "config-path": "path",
    "cp": "path",
    "config-dir": "further",
    "cd": "further",
}


class Resolved(msgspec.Struct):
    """What is known of the configuration of an entry. Neither tree nor trouble nor dotlist: it is none of our programs.

    ``home`` is the folder that the program's package lies in, ``schema`` the shipped one that stands for it.
    """

    tree: Tree | None = None
    home: Path | None = None
    schema: str | None = None
    dotlist: Dotlist | None = None
    troubles: list[Trouble] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)


class At(NamedTuple):
    """When a program is looked at: now, at a commit that lies in a folder, or as a shipped schema has it."""

    fixed: tuple[Path, str] | None = None
    schema: str | None = None


NOW = At()


class _Asked(NamedTuple):
    """What a command line says of the configuration: Hydra's own flags, the search path, where that is written."""

    flags: Mapping[str, Setting]
    search: tuple[str, ...] | None
    place: Setting | None
    packages: list[str]


class Resolver:
    """Finds trees; those of one run are shared."""

    def __init__(self, context: Context) -> None:
        """Look in the project of ``context``, as its configuration says."""
        options = context.options("overrides", OverridesOptions)
        self._project = context.project
        self._cache = context.cache_folder / "hydra" if context.cache_folder else None
        self._given = source_roots(context)
        self._workshop = Workshop()
        self._trees: dict[object, Tree] = {}
        self._roots: dict[object, Roots] = {}  # they remember what they found
        self._mains: dict[Path, HydraMain | None] = {}
        self._dotlists: dict[Path, tuple[Dotlist | None, tuple[Path, ...]]] = {}
        self._wanted = _schema(options.schema, self._project.root) if options.schema else None

    def roots(self, entry: Entry, names: Sequence[str], fixed: tuple[Path, str] | None = None) -> Roots:
        """Return where packages of these names are looked up for an entry, first in a ``fixed`` folder."""
        own = own_folders(entry, self._project)
        key = own, frozenset(name.partition(".")[0] for name in names), fixed
        if key not in self._roots:
            self._roots[key] = self._all_roots(*key)
        return self._roots[key]

    def _all_roots(
        self, own: tuple[Path, ...], tops: frozenset[str], fixed: tuple[Path, str] | None
    ) -> Roots:
        root = self._project.root
        certain = dict.fromkeys([*own, root, root / "src", *self._given])
        nested = nested_folders(root, self._project.folders, tops)
        guessed = [folder for folder in nested if folder not in certain]
        first = () if fixed is None else (fixed[0],)
        return Roots((*first, *certain, *guessed, *installed_folders()), frozenset(guessed), fixed)

    def resolve(self, entry: Entry, settings: Settings, at: At = NOW) -> Resolved:
        """Return the tree of an entry, or why there is none."""
        if not any(item.style == "hydra" for item in settings) and entry.module is None:
            return Resolved()
        asked = _asked(entry, settings)
        if entry.module is None:
            file = self._file(posixpath.join(entry.command.folder, str(entry.file)))
            roots = self.roots(entry, asked.packages)
        elif at.schema:
            return self._shipped(entry.module, settings, asked, at.schema)
        else:
            roots = self.roots(entry, [entry.module, *asked.packages], at.fixed)
            file = roots.module(entry.module)
            top = roots.top(entry.module)
            if top is None or (file is None and not is_regular(top, entry.module.partition(".")[0])):
                found = self._shipped(entry.module, settings, asked, self._wanted)
                if top is None or found.tree is not None:
                    return found
            if file is None:
                return Resolved(troubles=[missing_module(entry.module, roots)])
        main = self._main(file) if file else None
        if file is None or main is None:
            return self._without_hydra(file, roots, entry.module) if file else Resolved()
        result = self._live(main, roots, asked, entry.module)
        result.home = None if entry.module is None else roots.top(entry.module)
        return result

    def _file(self, name: str) -> Path | None:
        path = self._project.root / posixpath.normpath(name).lstrip("/")
        return path if path.suffix == ".py" and path.is_file() else None

    def _without_hydra(self, file: Path, roots: Roots, module: str | None) -> Resolved:
        """Read a program that takes ``key=value`` words on its own."""
        found = Resolved(inputs={str(file)})
        if file in self._dotlists:
            found.dotlist, opened = self._dotlists[file]
        elif b"from_cli" in file.read_bytes():
            from example_sanity.schema.argparse.reading import read_dotlist

            # OmegaConf itself is known, wherever it is installed.
            installed = installed_folders()
            folders = [file.parent, *(folder for folder in roots.folders if folder not in installed)]
            found.dotlist, opened = self._dotlists[file] = read_dotlist(
                file, roots.folders[0], folders, module
            )
        else:
            return found
        found.inputs |= {str(path) for path in opened}
        return found

    def _main(self, file: Path) -> HydraMain | None:
        if file not in self._mains:
            self._mains[file] = hydra_main(file)
        return self._mains[file]

    def _live(self, main: HydraMain, roots: Roots, asked: _Asked, module: str | None) -> Resolved:
        result = Resolved(inputs={str(main.file)} if roots.changes(str(main.file)) else set())
        flags = asked.flags
        folder = self._configured(main, flags["path"].raw) if "path" in flags else main.folder
        name = (_text(flags.get("name")) or main.name or "").removesuffix(".yaml")
        if folder is None or not name or any(not item.stable for item in flags.values()):
            return result  # nothing is composed, or not in a way that is written down
        further, absent = self._further(roots, asked, module, name)
        troubles = check_folder(folder, name, roots, flags)
        for path in () if asked.search is None else asked.search:
            if further is None or path not in absent:
                troubles += check_search(path, roots, asked.place)
        result.troubles = troubles
        if troubles:
            return result
        if importlib.util.find_spec("hydra") is None:
            message = (
                "Hydra is not installed beside example-sanity, so overrides are not checked; "
                "pip install 'example-sanity[hydra]'"
            )
            result.troubles.append(Trouble("OVR017", message))
            return result
        search = asked.search and tuple(path for path in asked.search if path not in absent)
        beside = _text(flags.get("further"))
        spec = Spec(folder, name, search, str(roots.folders[0] / beside) if beside else None)
        live = self._live_tree(spec, roots, main)
        result.tree = live
        if further is not None:
            result.inputs.add(str(shipped.file_of(self._wanted or further.source)))
            result.tree = self._trees.setdefault((spec, roots, further.label), CombinedTree(live, further))
        return result

    def _configured(self, main: HydraMain, path: str) -> str | None:
        """Return the folder that ``--config-path`` names, None for one outside of the project and not on this machine.

        The project lies at ``/`` while its launchers are evaluated, so ``$(pwd)/conf`` is ``//conf``.
        """
        if not path.startswith("/"):
            return located(main.file.parent, path)
        inside = posixpath.normpath(path).lstrip("/")
        if inside.partition("/")[0] in self._project.folders:
            return str(self._project.root / inside)
        return posixpath.normpath(path) if Path(path).is_dir() else None

    def _live_tree(self, spec: Spec, roots: Roots, main: HydraMain) -> LiveTree:
        if (spec, roots) not in self._trees:
            package = roots.package(main.file)
            self._trees[spec, roots] = LiveTree(roots, spec, package, self._cache, self._workshop)
        found = self._trees[spec, roots]
        assert isinstance(found, LiveTree)
        return found

    def _further(
        self, roots: Roots, asked: _Asked, module: str | None, name: str
    ) -> tuple[shipped.ShippedTree | None, frozenset[str]]:
        """Return the shipped schema that has what of the search path is nowhere else, and those entries of the path."""
        absent = {name for name in asked.packages if roots.top(name.strip("/").replace("/", ".")) is None}
        schema = shipped.choose(module, absent, self._wanted) if absent and module else None
        if schema is None or module not in schema.entries:
            return None, frozenset()
        key = schema.forest(module, name)
        tree = shipped.ShippedTree(schema, key) if key else None
        return tree, frozenset(f"pkg://{package}" for package in absent)

    def _shipped(self, module: str, settings: Settings, asked: _Asked, wanted: str | None) -> Resolved:
        flags = asked.flags
        schema = shipped.choose(module, asked.packages, wanted)
        if schema is None:
            return _unresolved(module, settings, asked.packages)
        file = shipped.file_of(wanted or schema.source.name)
        result = Resolved(schema=schema.source.name, inputs={str(file)})
        if module not in schema.entries:
            if module not in schema.modules:
                message = (
                    f"there is no module {module} in {schema.source.name}"
                    f"{did_you_mean(module, schema.modules)}"
                )
                result.troubles.append(Trouble("OVR006", message))
            return result
        if "path" in flags or "further" in flags:
            return result  # the configuration is the user's own
        name = _text(flags.get("name"))
        key = schema.forest(module, name.removesuffix(".yaml") if name else None)
        if key is None and name is None:
            return result  # it does not compose on this search path
        if key is None:
            folder = schema.entries[module][0]
            names = [item.rpartition("/")[2] for item in schema.forests if item.startswith(f"{folder}/")]
            message = (
                f"there is no configuration {name} in {folder} of {schema.source.name}"
                f"{did_you_mean(str(name), names)}"
            )
            result.troubles.append(Trouble("OVR007", message, flags.get("name")))
            return result
        if (schema.source.name, key) not in self._trees:
            self._trees[schema.source.name, key] = shipped.ShippedTree(schema, key)
        result.tree = self._trees[schema.source.name, key]
        return result


def _schema(name: str, root: Path) -> str:
    """Return the configured schema: a shipped one, or a file. Raises UsageError."""
    if name.endswith(shipped.SUFFIX):
        name = str(root / name)
    known = shipped.names()
    try:
        shipped.load(name)
    except FileNotFoundError as error:
        raise UsageError(
            f"[tool.example-sanity.overrides]: there is no schema {name!r}"
            f"{did_you_mean(name, known)}; there are: {', '.join(known)}"
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(
            f"[tool.example-sanity.overrides]: cannot read the schema {name}: {error}"
        ) from error
    return name


def resolver(context: Context) -> Resolver:
    """Return the resolver of a run."""
    found: Resolver | None = context.cache.get("overrides resolver")
    if found is None:
        found = context.cache["overrides resolver"] = Resolver(context)
    return found


def _asked(entry: Entry, settings: Settings) -> _Asked:
    search, place = _searchpath(settings)
    packages = [path.removeprefix("pkg://") for path in search or () if path.startswith("pkg://")]
    return _Asked(_flags(settings), search, place, packages)


def _text(setting: Setting | None) -> str | None:
    return None if setting is None else setting.raw


def _flags(settings: Settings) -> dict[str, Setting]:
    """Return what Hydra's own flags say of the configuration, by what they set."""
    found: dict[str, Setting] = {}
    for item in settings:
        if item.style == "flag" and item.key.replace("_", "-") in _FLAGS:
            found[_FLAGS[item.key.replace("_", "-")]] = item
    return found


def _searchpath(settings: Settings) -> tuple[tuple[str, ...] | None, Setting | None]:
    for item in settings:
        if item.key == "hydra.searchpath" and isinstance(item.value, list):
            return tuple(str(path) for path in item.value), item
    return None, None


def _unresolved(module: str, settings: Settings, packages: list[str]) -> Resolved:
    """Say that nothing is known, if there is anything that Hydra would have to accept."""
    if not any(item.style == "hydra" for item in settings):
        return Resolved()
    missing = next((name for name in packages if shipped.choose(name, ()) is None), module)
    name = module if shipped.choose(module, ()) is None else missing
    return Resolved(troubles=[not_found(name, None)])


def is_multirun(entry: Entry) -> bool:
    """Return whether the command line asks Hydra for several runs."""
    words = [entry.command.argv[index] for index in entry.arguments]
    return any(is_option(word) and word in ("-m", "--multirun") for word in words)


def prints_only(settings: Settings) -> bool:
    """Return whether Hydra is asked to show something instead of running the program (``--cfg job``)."""
    asked = {item.key.replace("_", "-") for item in settings if item.style == "flag"}
    return bool(asked & {"cfg", "c", "info", "i", "help", "h", "hydra-help", "version"})
