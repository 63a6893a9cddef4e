"""What the repository of a launcher knows of it: the configuration files that it names, and its models' config.json."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from example_sanity.checks.mesh.files import Data, flat, merged, parsed
from example_sanity.checks.mesh.options import MeshOptions
from example_sanity.launch.options import is_option
from example_sanity.launch.settings import Setting, Settings
from example_sanity.parallel.keys import WHOLE
from example_sanity.parallel.models import ModelFacts, Models, from_config

if TYPE_CHECKING:
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry

# Settings that name a configuration file of the program, and those that name one by folder and name.
_NAMING = frozenset({"config", "config-file", "config_file", "c", "job.config_file", "job.config-file"})
_FOLDERS, _NAMES = ("config_path", "config-path"), ("config_name", "config-name")
_ENDINGS = (".yaml", ".yml", ".toml")
_DEEPEST = 8  # files that build on others


class Repository:
    """Reads files of the project for a launch; without a project there are none. ``models`` are the shipped facts."""

    def __init__(self, project: Project | None = None, models: Models | None = None) -> None:
        """Read from ``project``; a script's working folder is its root."""
        self._project = project
        self._models = models or Models()

    @classmethod
    def of(cls, context: Context) -> Repository:
        """Return the repository of a run, with the models of its configuration."""
        models: Models | None = context.cache.get("mesh models")
        if models is None:
            models = context.cache["mesh models"] = context.options("mesh", MeshOptions).known_models
        return cls(context.project, models)

    def read(self, path: str) -> str | None:
        """Return the text of a file of the project, or None where there is none."""
        name = posixpath.normpath(path.lstrip("/"))
        if self._project is None or not path or name.startswith(".."):
            return None
        self._project.watch(f"file:{name}")
        data = self._project.peek(name)
        return None if data is None else data.decode("utf-8", "replace")

    def home(self, package: str) -> str | None:
        """Return the folder, with its slash, in which the repository has a package of its own; None where it has none."""
        mark = f"{package}/__init__.py"
        paths = () if self._project is None else self._project.files_named("__init__.py")
        found = [path.removesuffix(mark) for path in paths if path == mark or path.endswith(f"/{mark}")]
        home = min(found, key=lambda folder: (folder.count("/"), folder), default="")
        return None if self.read(home + mark) is None else home

    def model(self, name: str) -> ModelFacts | None:
        """Return the facts of a model: from the ``config.json`` in its folder, else from the shipped table."""
        path = f"{name}/config.json"
        config = parsed(path, self.read(path))
        return (from_config(config, name) if config else None) or self._models.lookup(name)

    def with_files(self, given: Settings, entry: Entry) -> Settings:
        """Return the settings with those of the configuration files that they name before them, so that they win.

        Each of a file's settings stands where the file is named. ``$whole`` is set where the files say everything: none
        is missing, and none builds on what is not there.
        """
        named = tuple(_named(given, entry))
        found: list[Setting] = []
        for path, item in named:
            data = self._table(path) if item.stable else None
            if data is None:
                return given
            found += [_setting(key, value, item) for key, value in flat(data)]
        if not named:
            return given
        return Settings((*found, *given.items, _setting(WHOLE, True, named[-1][1])))

    def _table(self, path: str, depth: int = 0) -> Data | None:
        """The whole of a file and of the files that its ``defaults`` name by path; None where one is not there."""
        data = parsed(path, self.read(path))
        if data is None or "defaults" not in data:
            return data
        bases = data["defaults"] if isinstance(data["defaults"], list) else [data["defaults"]]
        result: Data = {}
        for base in bases:
            # A name without an ending is one of Hydra's groups, which have rules of their own.
            if not isinstance(base, str) or not base.endswith(_ENDINGS) or depth == _DEEPEST:
                return None
            table = self._table(posixpath.join(posixpath.dirname(path), base), depth + 1)
            if table is None:
                return None
            result = merged(result, table)
        return merged(result, {key: value for key, value in data.items() if key != "defaults"})


def _named(given: Settings, entry: Entry) -> Iterator[tuple[str, Setting]]:
    """The configuration files that a program is told of, each with the setting to stand for it."""
    yield from _operands(entry)
    for item in given:
        if item.style == "flag" and item.key in _NAMING and item.raw.endswith(_ENDINGS):
            yield item.raw, item
    yield from _by_folder(given, entry)


def _operands(entry: Entry) -> Iterator[tuple[str, Setting]]:
    """``train.py recipe.yaml``: files in front of the first option."""
    command = entry.command
    for index in entry.arguments:
        word = command.argv[index]
        if is_option(word):
            return
        if word.endswith(_ENDINGS) and "=" not in word:
            origin = command.origins[index] if index < len(command.origins) else command.site
            stable = index not in command.unstable
            yield word, Setting("config", word, word, "flag", "flag", index, origin, stable)


def _by_folder(given: Settings, entry: Entry) -> Iterator[tuple[str, Setting]]:
    """``--config_path FOLDER --config_name NAME`` of programs that compose a file themselves; Hydra's own are no files."""
    folder, name = (
        next((item for key in keys if (item := given.get(key))), None) for keys in (_FOLDERS, _NAMES)
    )
    if not folder or not name or not entry.file or {folder.style, name.style} != {"flag"}:
        return
    path = posixpath.join(posixpath.dirname(entry.file), folder.raw, name.raw.removesuffix(".yaml") + ".yaml")
    yield path, name


def _setting(key: str, value: object, item: Setting) -> Setting:
    return Setting(key, value, str(value), "file", "set", item.word, item.origin)
