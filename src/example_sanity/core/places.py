"""What a project holds besides the contents of its files: what git does not list, where links lead, what is executable."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

PRUNED = frozenset(
    {
        ".example-sanity-cache",
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        "node_modules",
        ".venv",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
    }
)
_EXECUTABLE = 0o111
_PLAIN = ("folder", "file")  # what the listing tells already
# Data sets lie in ignored folders: who changes one deep inside a large one has to say --no-cache.
_MOST = 500


class Places(NamedTuple):
    """Files and folders that are not listed, none of them below another; and what there is to see beyond the listing."""

    unlisted: tuple[str, ...]
    seen: tuple[str, ...]


def survey(root: Path, files: Collection[str], folders: Collection[str]) -> Places:
    """Look into the folders that hold the listed files, as ``Project`` has both."""
    listed = frozenset(files)
    unlisted, seen = [], []
    for folder in sorted(folders):
        for path, entry in _entries(root, folder):
            kind = _kind(entry)
            is_listed = path in listed or path in folders
            if not is_listed:
                unlisted.append(path)
            if not (is_listed and kind in _PLAIN):
                seen.append(f"{path} {kind}")
    return Places(tuple(unlisted), tuple(seen))


def _entries(root: Path, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name not in PRUNED:
            yield f"{folder}/{entry.name}" if folder else entry.name, entry


def _kind(entry: os.DirEntry[str]) -> str:
    """What a script can ask of a place without reading it."""
    try:
        if entry.is_symlink():
            return f"-> {os.readlink(entry.path)}"  # noqa: PTH115  # speed
        if entry.is_dir():
            return "folder"
        return "executable" if entry.stat().st_mode & _EXECUTABLE else "file"
    except OSError:
        return "gone"


def names_in(folder: str) -> list[str] | None:
    """Return the names in a folder of the host, or None where it is none."""
    try:
        return sorted(name for name in os.listdir(folder) if name not in PRUNED)  # noqa: PTH208  # speed
    except (OSError, ValueError):
        return None


def state(root: Path, place: str) -> Iterator[str]:
    """Yield what the system says of a place and of what is below it, a few hundred entries at most.

    Nothing is read: an ignored file may hold a data set. Links are not followed.
    """
    waiting, left = [place], _MOST
    while waiting and left:
        path = waiting.pop()
        left -= 1
        full = os.fspath(root / path)
        try:
            about = os.lstat(full)
        except OSError:
            continue
        if stat.S_ISDIR(about.st_mode):
            yield f"{path}/"
            waiting += [f"{path}/{name}" for name in reversed((names_in(full) or [])[:left])]
        else:
            yield f"{path} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"
