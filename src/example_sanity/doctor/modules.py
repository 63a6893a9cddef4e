"""Where Python would find what a launcher starts: the current folder, PYTHONPATH, then the environment."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from pathlib import Path

import msgspec

from example_sanity.doctor.environment import Distribution, Environment
from example_sanity.launch.command import Entry, Launch
from example_sanity.launch.pythonpath import given_folders
from example_sanity.launch.world import HOME


class Folder(msgspec.Struct, frozen=True):
    """A folder that a launcher puts before the environment: the words, and the folder on this host that they mean.

    ``path`` is None where it depends on a value that was made up.
    """

    words: str
    path: Path | None


class Found(msgspec.Struct, frozen=True):
    """A package or module at ``path``; ``regular`` packages end the search, a namespace goes on."""

    path: Path
    regular: bool


def folders(entry: Entry, launch: Launch, root: Path) -> tuple[Folder, ...]:
    """Return the folders that PYTHONPATH names for an entry, in order; an empty word is the current folder."""
    made_up = tuple(launch.scenario.placeholders.values()) + launch.scenario.arguments
    return tuple(
        Folder(word, None if any(value and value in word for value in made_up) else _on_host(word, root))
        for word in given_folders(entry)
    )


def _on_host(word: str, root: Path) -> Path:
    """The folder that a path of the evaluation means here: the project is its root, and the home is a made-up one."""
    if word == HOME or word.startswith(HOME + "/"):
        return Path.home() / word[len(HOME) :].lstrip("/")
    inside = root / posixpath.normpath(word).lstrip("/")
    return inside if not word.startswith("/") or inside.exists() else Path(word)


def look(name: str, where: Sequence[Path]) -> Found | None:
    """Return the top-level package or module that Python would take for ``name``, as it goes through ``where``.

    A folder without ``__init__.py`` is taken only where no regular package or module follows.
    """
    namespace = None
    for folder in where:
        if (folder / name / "__init__.py").is_file():
            return Found(folder / name, True)
        if (folder / f"{name}.py").is_file() or any(folder.glob(f"{name}.*.so")):
            return Found(folder / f"{name}.py", True)
        if namespace is None and (folder / name).is_dir():
            namespace = Found(folder / name, False)
    return namespace


def holds(module: str, where: Sequence[Path]) -> bool:
    """Return whether a dotted module is found: in its regular package, or in any part of a namespace."""
    top, _, rest = module.partition(".")
    found = look(top, where)
    if found is None or not rest:
        return found is not None
    if found.regular:
        return _inside(found.path, rest)
    return any(_inside(folder / top, rest) for folder in where)


def _inside(package: Path, rest: str) -> bool:
    path = package.joinpath(*rest.split("."))
    return (
        path.is_dir()
        or path.with_name(path.name + ".py").is_file()
        or any(path.parent.glob(f"{path.name}.*.so"))
    )


def search_path(entry: Entry, before: Sequence[Folder], root: Path, environment: Environment) -> list[Path]:
    """Return the folders that Python goes through for an entry: first its own, then PYTHONPATH, then the environment.

    ``python -m`` starts at the current folder, a file at the folder that holds it.
    """
    own = root if entry.module else root / posixpath.dirname(entry.file or "").lstrip("/")
    given = [item.path for item in before if item.path]
    return [own, *given, *environment.folders, *environment.editable_folders]


def providers(package: str, environment: Environment) -> list[Distribution]:
    """Return the distributions that provide a regular top-level package, in the order in which Python looks."""
    return [item for item in environment.all if package in item.regular]
