"""What the repository of a launcher knows of it: the configuration files that it names, and its models' config.json."""

from __future__ import annotations

import json
import posixpath
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from example_sanity.launch.settings import Setting, Settings
from example_sanity.parallel.keys import WHOLE
from example_sanity.parallel.models import ModelFacts, Models, from_config

if TYPE_CHECKING:
    from example_sanity.core.project import Project

# Settings that name a configuration file of the program.
_NAMING = frozenset({"config", "config-file", "config_file", "c", "job.config_file", "job.config-file"})
_ENDINGS = (".yaml", ".yml", ".toml")


class Repository:
    """Reads files of the project for a launch; without a project there are none. ``models`` are the shipped facts."""

    def __init__(self, project: Project | None = None, models: Models | None = None) -> None:
        """Read from ``project``; a script's working folder is its root."""
        self._project = project
        self._models = models or Models()

    def read(self, path: str) -> str | None:
        """Return the text of a file of the project, or None where there is none."""
        name = posixpath.normpath(path.lstrip("/"))
        if self._project is None or not path or name.startswith(".."):
            return None
        self._project.watch(f"file:{name}")
        data = self._project.peek(name)
        return None if data is None else data.decode("utf-8", "replace")

    def model(self, name: str) -> ModelFacts | None:
        """Return the facts of a model: from the ``config.json`` in its folder, else from the shipped table."""
        text = self.read(f"{name}/config.json")
        config = _json(text) if text else None
        return (from_config(config, name) if config else None) or self._models.lookup(name)

    def with_files(self, given: Settings) -> Settings:
        """Return the settings with those of the configuration files that they name before them, so that they win.

        Each of a file's settings stands where the file is named. ``$whole`` is set where the files say everything: none
        is missing, and none builds on others.
        """
        named = [item for item in given if _names_file(item)]
        found: list[Setting] = []
        for item in named:
            data = _parsed(item.raw, self.read(item.raw)) if item.stable else None
            if data is None or "defaults" in data:
                return given
            found += [_setting(key, value, item) for key, value in _flat(data)]
        if not named:
            return given
        return Settings((*found, *given.items, _setting(WHOLE, True, named[-1])))


def _names_file(item: Setting) -> bool:
    return item.style == "flag" and item.key in _NAMING and item.raw.endswith(_ENDINGS)


def _setting(key: str, value: object, item: Setting) -> Setting:
    return Setting(key, value, str(value), "file", "set", item.word, item.origin)


def _flat(data: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _json(text: str) -> Mapping[str, object] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _parsed(path: str, text: str | None) -> Mapping[str, object] | None:
    if text is None:
        return None
    try:
        data = _toml(text) if path.endswith(".toml") else _yaml(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _toml(text: str) -> object:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
