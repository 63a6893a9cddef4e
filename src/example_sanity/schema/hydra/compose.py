"""Lets Hydra choose what a configuration consists of, offline: its own algorithm, our own readers of files and packages.

The merge of plain YAML is written again, as OmegaConf takes ten times as long; the tests compare both.

Uses ``hydra._internal`` (1.3). What Hydra keeps for the whole process is put back afterwards.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import hydra.conf
import msgspec
import yaml
from hydra import version
from hydra._internal import defaults_list as algorithm
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.core_plugins import basic_launcher, basic_sweeper
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.core_plugins.structured_config_source import StructuredConfigSource
from hydra._internal.defaults_list import Overrides, create_defaults_list
from hydra._internal.sources_registry import SourcesRegistry
from hydra.conf import HydraConf
from hydra.core.default_element import GroupDefault, InputDefault
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from msgspec import field
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from example_sanity.schema.hydra import yamlfiles
from example_sanity.schema.hydra.model import AbsentPackageError, ComposeError
from example_sanity.schema.hydra.roots import Roots

_UNREADABLE = (
    HydraException,
    OmegaConfBaseException,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    yaml.YAMLError,
)

# Importing them is what registers Hydra's own groups.
_REGISTERED = (HydraConf, basic_launcher, basic_sweeper)
_HYDRA = Path(hydra.conf.__file__).parent


class Composed(msgspec.Struct):
    """What Hydra made: plain data, the overridable groups with their options, and per key the file and line it is from."""

    data: dict[str, Any]
    groups: dict[str, Any]
    places: dict[str, tuple[str, int]] = field(default_factory=dict)


class _Files(FileConfigSource):
    """``file://``: relative to the project, as launchers run there.

    Hydra asks for the same files and folders again for each entry of each defaults list; here that is remembered.
    ``absent`` is the package that this stands for, where that is nowhere.
    """

    absent: str | None = None

    def __init__(self, provider: str, path: str) -> None:
        super().__init__(provider, path)
        self._files: dict[str, str | None] = {}
        self._folders: dict[str, bool] = {}

    def load_config(self, config_path: str) -> ConfigResult:
        path = self.file(config_path)
        if path is None:
            raise ConfigLoadError(f"no configuration {config_path}")
        found = yamlfiles.read(path)
        header = ConfigSource._get_header_dict(found.head)
        return ConfigResult(
            provider=self.provider,
            path=f"{self.scheme()}://{self.path}",
            config=OmegaConf.create(_steering(found.data)),
            header=header,
        )

    def file(self, config_path: str) -> str | None:
        """Return the host path of a configuration, or None."""
        if config_path not in self._files:
            path = os.path.realpath(os.path.join(self.path, self._normalize_file_name(config_path)))  # noqa: PTH118
            self._files[config_path] = path if os.path.isfile(path) else None  # noqa: PTH113
        return self._files[config_path]

    def is_config(self, config_path: str) -> bool:
        return self.file(config_path) is not None

    def is_group(self, config_path: str) -> bool:
        if config_path not in self._folders:
            self._folders[config_path] = os.path.isdir(os.path.join(self.path, config_path))  # noqa: PTH112, PTH118
        return self._folders[config_path]


def _sources(roots: Roots) -> dict[str, type[ConfigSource]]:
    class Files(_Files):
        def __init__(self, provider: str, path: str) -> None:
            super().__init__(provider, path)
            self.path = os.path.join(roots.folders[0], self.path)  # noqa: PTH118

    class Packages(_Files):
        def __init__(self, provider: str, path: str) -> None:
            super().__init__(provider, path)
            name = self.path.strip("/").replace("/", ".")
            self.path = str(roots.folder(name) or os.devnull)
            self.absent = name if roots.top(name) is None else None

        @staticmethod
        def scheme() -> str:
            return "pkg"

    return {"file": Files, "pkg": Packages, "structured": StructuredConfigSource}


@contextmanager
def _private(roots: Roots) -> Iterator[None]:
    """Replace what Hydra keeps for the process while it works for us."""
    registry = SourcesRegistry.instance()
    before = registry.types, algorithm._create_interpolation_map, version.base_at_least
    registry.types, algorithm._create_interpolation_map = _sources(roots), _interpolation_map
    # Asked for each entry of a defaults list, and each time the version is parsed anew.
    version.base_at_least = cache(version.base_at_least)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        registry.types, algorithm._create_interpolation_map, version.base_at_least = before


_whole_map = algorithm._create_interpolation_map
_NOTHING_CHOSEN = OmegaConf.create({})  # to make one takes longer than all else that a defaults list costs


def _interpolation_map(
    overrides: Overrides, defaults_list: list[InputDefault], self_added: bool
) -> DictConfig:
    """What interpolations in a defaults list refer to; few lists have one, and making it for all takes half of the time."""
    single = [item for item in defaults_list if not (isinstance(item, GroupDefault) and item.is_options())]
    if any(item.is_interpolation() for item in single):
        return _whole_map(overrides, defaults_list, self_added)
    return _NOTHING_CHOSEN


class Composer:
    """Composes the configurations of one search path: the main folder first, then further ones. Each file is read once."""

    def __init__(
        self, roots: Roots, folder: str, searchpath: Sequence[str] | None = None, further: str | None = None
    ) -> None:
        """Prepare; ``searchpath`` is ``hydra.searchpath`` of the command line, ``further`` its ``--config-dir``."""
        self._roots = roots
        self._search = None if searchpath is None else list(searchpath)
        path = ConfigSearchPathImpl()
        path.append("hydra", str(_HYDRA))
        path.append("main", folder)
        if further:
            path.append("command-line", further)
        path.append("schema", "structured://")
        self._path = path
        self._repositories: dict[str, Any] = {}
        self._loaded: dict[str, Any] = {}
        self._listed: dict[tuple[str, int], dict[str, list[str]]] = {}
        self._walked: dict[str, list[str]] = {}

    def _parsed(self, words: Sequence[str]) -> Any:
        search = (
            [] if self._search is None else [f"hydra.searchpath=[{','.join(map(_quoted, self._search))}]"]
        )
        return OverridesParser.create().parse_overrides([*words, *search])

    def _repository(self, name: str) -> Any:
        """The files of the search path, which the configuration of the name may add to."""
        if name not in self._repositories:
            loader = ConfigLoaderImpl(self._path)
            repository = CachingConfigRepository(loader.repository)
            loader._process_config_searchpath(name, self._parsed(()), repository)
            if repr(repository.get_sources()) == repr(loader.get_sources()):
                # Configurations that add nothing to the search path read the same files; Hydra changes none of them.
                self._loaded.update(repository.cache)
                repository.cache = self._loaded
            self._repositories[name] = repository
        return self._repositories[name]

    def compose(self, name: str, choices: Sequence[str]) -> Composed:
        """Compose configuration ``name`` with group overrides (``group=option``). Raises ComposeError."""
        try:
            with _private(self._roots):
                return self._compose(name, list(choices))
        except _UNREADABLE as error:
            absent = self._absent(name)
            if absent:
                raise AbsentPackageError(str(error), absent) from error
            raise ComposeError(str(error)) from error

    def _absent(self, name: str) -> str | None:
        """Return the first package that a configuration has in its search path and that is nowhere."""
        with suppress(*_UNREADABLE), _private(self._roots):
            sources = self._repository(name).get_sources()
            return next((source.absent for source in sources if getattr(source, "absent", None)), None)
        return None

    def _compose(self, name: str, words: list[str]) -> Composed:
        ConfigLoaderImpl(self._path).ensure_main_config_source_available()
        repository = self._repository(name)
        defaults = create_defaults_list(
            repo=repository,
            config_name=name,
            overrides_list=self._parsed(words),
            prepend_hydra=True,
            skip_missing=False,
        )
        groups = dict(defaults.overrides.known_choices)
        result = Composed({}, groups)
        files = [source for source in repository.get_sources() if isinstance(source, _Files)]
        for item in defaults.defaults:
            wanted = item.config_path or ""
            path = next((path for source in files if (path := source.file(wanted))), None)
            if path is None:
                structured = repository.load_config(config_path=wanted).config
                data = _without_defaults(OmegaConf.to_container(structured, resolve=False))
                merge(result.data, _embedded(data, item.package))
            else:
                _add_file(result, path, item.package)
        return result

    def options(self, name: str, limit: int = 4) -> dict[str, list[str]]:
        """Return every group of the search path (``a``, ``a/b``) with its options. Raises ComposeError."""
        try:
            with _private(self._roots):
                repository = self._repository(name)
                key = repr(repository.get_sources()), limit
                if key not in self._listed:
                    found: dict[str, list[str]] = {}
                    _list_groups(repository, "", found, limit)
                    self._listed[key] = found
                return self._listed[key]
        except _UNREADABLE as error:
            raise ComposeError(str(error)) from error

    def files(self, name: str) -> list[str]:
        """Return the YAML files and folders that the outcome depends on, Hydra's own left out."""
        with _private(self._roots):
            try:
                repository = self._repository(name)
            except _UNREADABLE:
                repository = ConfigLoaderImpl(self._path).repository  # without the search path that it adds
            sources = [item for item in repository.get_sources() if isinstance(item, _Files)]
        folders = [source.path for source in sources if source.provider != "hydra"]
        return list(dict.fromkeys(path for folder in folders for path in self._below(folder)))

    def _below(self, top: str) -> list[str]:
        """Return the YAML files and folders below a folder, itself included."""
        if top not in self._walked:
            found = self._walked[top] = []
            for folder, names, files in os.walk(top):
                names[:] = sorted(item for item in names if item != "__pycache__")
                read = [item for item in files if item.endswith(".yaml")]
                found += [folder, *(os.path.join(folder, item) for item in sorted(read))]  # noqa: PTH118
        return self._walked[top]


def _list_groups(repository: Any, parent: str, found: dict[str, list[str]], depth: int) -> None:
    for name in repository.get_group_options(parent, ObjectType.GROUP):
        if name.startswith("__") or depth == 0:
            continue
        group = f"{parent}/{name}" if parent else name
        found[group] = repository.get_group_options(group, ObjectType.CONFIG)
        _list_groups(repository, group, found, depth - 1)


def _steering(data: Any) -> dict[str, Any]:
    """Return the part of a file that decides which other files there are."""
    if not isinstance(data, dict):
        return {}
    found = {"defaults": data["defaults"]} if "defaults" in data else {}
    hydra_node = data.get("hydra")
    if isinstance(hydra_node, dict) and "searchpath" in hydra_node:
        found["hydra"] = {"searchpath": hydra_node["searchpath"]}
    return found


def _add_file(result: Composed, path: str, package: str | None) -> None:
    found = yamlfiles.read(path)
    prefix = f"{package}." if package else ""
    merge(result.data, _embedded(_without_defaults(found.data or {}), package))
    for key, line in found.lines.items():
        result.places[prefix + key] = (path, line)


def _without_defaults(data: Any) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "defaults"}


def _embedded(data: Any, package: str | None) -> dict[str, Any]:
    for name in reversed(package.split(".") if package else ()):
        data = {name: data}
    assert isinstance(data, dict)
    return data


def merge(target: dict[str, Any], source: dict[str, Any]) -> None:
    """Lay ``source`` over ``target`` as OmegaConf merges: dicts key by key, all else replaced; a missing value gives way."""
    for key, value in source.items():
        old = target.get(key)
        if isinstance(value, dict):
            inner = dict(old) if isinstance(old, dict) else {}
            merge(inner, value)
            target[key] = inner
        elif value != "???" or key not in target:
            target[key] = value


def _quoted(text: str) -> str:
    return f'"{text}"'
