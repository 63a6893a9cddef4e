"""Finds the files of Python packages without importing any: in the project, in configured folders, where they are installed."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Roots(msgspec.Struct, frozen=True, dict=True):
    """Folders in which packages are looked up, in this order: the project's, the configured ones, the installed ones.

    In those ``guessed`` a package may lie by chance: a folder that only has its name is none. ``fixed`` is a folder that
    stands for a commit, and the name of that: what is in it never changes.
    """

    folders: tuple[Path, ...]
    guessed: frozenset[Path] = frozenset()
    fixed: tuple[Path, str] | None = None

    @property
    def names(self) -> list[str]:
        """What the folders are called, the fixed one by its commit."""
        place, name = self.fixed or (None, "")
        return [name if folder == place else str(folder) for folder in self.folders]

    def changes(self, path: str) -> bool:
        """Return whether a file may be another one in the next run."""
        return self.fixed is None or not Path(path).is_relative_to(self.fixed[0])

    @cached_property
    def _known(self) -> dict[str, Path | None]:
        return {}

    def top(self, name: str) -> Path | None:
        """Return the folder that holds the top package (or module) of a dotted name.

        As for Python a folder without ``__init__.py`` counts only where no package or module of the name follows.
        """
        wanted = ".".join(name.split(".")[:2])
        if wanted not in self._known:
            self._known[wanted] = self._find(*wanted.split("."))
        return self._known[wanted]

    def _find(self, first: str, second: str | None = None) -> Path | None:
        regular = next((root for root in self.folders if is_regular(root, first)), None)
        if regular is not None:
            return regular
        parts = [root for root in self.folders if _holds(root, first)]
        whole = (root for root in parts if second is None or _has(root / first, second))
        known = (root for root in parts if root not in self.guessed)
        return next(whole, None) or next(known, None)

    def module(self, name: str) -> Path | None:
        """Return the file that ``python -m name`` would run."""
        root = self.top(name)
        if root is None:
            return None
        base = root.joinpath(*name.split("."))
        candidates = (base / "__main__.py", base.with_name(f"{base.name}.py"))
        return next((path for path in candidates if path.is_file()), None)

    def source(self, name: str) -> Path | None:
        """Return the file that ``import name`` would run."""
        root = self.top(name)
        if root is None:
            return None
        base = root.joinpath(*name.split("."))
        candidates = (base / "__init__.py", base.with_name(f"{base.name}.py"))
        return next((path for path in candidates if path.is_file()), None)

    def folder(self, name: str) -> Path | None:
        """Return the folder of a package, one without ``__init__.py`` included."""
        root = self.top(name)
        found = root.joinpath(*name.split(".")) if root else None
        return found if found and found.is_dir() else None

    def shown(self, path: Path) -> str:
        """Return a path as messages show it: relative to the outermost root that it lies under."""
        around = [root for root in self.folders if path.is_relative_to(root)]
        outermost = min(around, key=lambda root: len(root.parts), default=None)
        return (path.relative_to(outermost) if outermost else path).as_posix()

    def package(self, file: Path) -> Path:
        """Return the folder of the top package that a file belongs to, or the folder of a file in none."""
        inner = [root for root in self.folders if file.is_relative_to(root)]
        innermost = max(inner, key=lambda root: len(root.parts), default=file.parent)
        parts = file.relative_to(innermost).parts
        return innermost / parts[0] if len(parts) > 1 else innermost


def is_regular(root: Path, name: str) -> bool:
    """Return whether a folder holds a module, or a package with an ``__init__.py``, of a name."""
    return (root / f"{name}.py").is_file() or (root / name / "__init__.py").is_file()


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def _holds(root: Path, name: str) -> bool:
    folder = root / name
    # A folder of the same name that holds no Python (docs, examples) is no package.
    return folder.is_dir() and any(_has_python(folder))


def _has_python(folder: Path, depth: int = 3) -> Iterator[bool]:
    with os.scandir(folder) as entries:
        inner = []
        for entry in entries:
            if entry.name.endswith(".py"):
                yield True
            elif depth and not entry.name.startswith(".") and entry.is_dir():
                inner.append(entry.path)
    for path in sorted(inner):
        yield from _has_python(Path(path), depth - 1)


def nested_folders(root: Path, folders: Iterable[str], names: Iterable[str]) -> list[Path]:
    """Return the folders of a project that hold a folder of one of ``names``, those nearest to the root first.

    ``folders`` are all folders of the project, relative to ``root``. A package deep inside is on ``PYTHONPATH`` when the
    launcher runs, wherever that is set; a folder inside of another package is a part of that.
    """
    wanted = set(names)
    inside = sorted((folder for folder in folders if folder.rpartition("/")[2] in wanted), key=_depth)
    homes = dict.fromkeys((root / folder).parent for folder in inside)
    return [home for home in homes if not (home / "__init__.py").is_file()]


def _depth(folder: str) -> tuple[int, str]:
    return folder.count("/"), folder


def installed_folders(paths: Sequence[str] | None = None) -> list[Path]:
    """Return where distributions are installed for this interpreter."""
    places = sys.path if paths is None else paths
    return [Path(place) for place in places if place and place.endswith(("site-packages", "dist-packages"))]
