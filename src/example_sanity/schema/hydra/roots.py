"""Finds the files of Python packages without importing any: in the project, in configured folders, where they are installed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True)
class Roots:
    """Folders in which packages are looked up, in this order: the project's, the configured ones, the installed ones."""

    folders: tuple[Path, ...]

    @cached_property
    def _known(self) -> dict[str, Path | None]:
        return {}

    def top(self, name: str) -> Path | None:
        """Return the folder that holds the top package (or module) of a dotted name."""
        first = name.partition(".")[0]
        if first not in self._known:
            self._known[first] = next((root for root in self.folders if _holds(root, first)), None)
        return self._known[first]

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
        """Return a path as messages show it: relative to the root that it lies under."""
        for root in self.folders:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return path.as_posix()


def _holds(root: Path, name: str) -> bool:
    if (root / f"{name}.py").is_file():
        return True
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


def project_folders(root: Path, folders: Iterable[str], names: Iterable[str]) -> list[Path]:
    """Return the folders of a project that packages are imported from: itself, ``src``, and those that hold one of ``names``.

    ``folders`` are all folders of the project, relative to ``root``. A package deep inside is on ``PYTHONPATH`` when the
    launcher runs, wherever that is set.
    """
    found = [root, root / "src"]
    wanted = set(names)
    inside = sorted((folder for folder in folders if folder.rpartition("/")[2] in wanted), key=_depth)
    return list(dict.fromkeys([*found, *((root / folder).parent for folder in inside)]))


def _depth(folder: str) -> tuple[int, str]:
    return folder.count("/"), folder


def installed_folders(paths: Sequence[str] | None = None) -> list[Path]:
    """Return where distributions are installed for this interpreter."""
    places = sys.path if paths is None else paths
    return [Path(place) for place in places if place and place.endswith(("site-packages", "dist-packages"))]
