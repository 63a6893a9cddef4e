"""The source of one package at one commit, out of git's objects, as files that are read like any others."""

from __future__ import annotations

import atexit
import posixpath
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from example_sanity.schema.objects import Repository

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_READ = (".py", ".yaml")


@lru_cache(maxsize=32)
def package_at(repository: Repository, commit: str, package: str) -> Path | None:
    """Return a folder that holds ``package`` as it was at a commit, None where it was not there.

    The work tree, the index and the references stay as they are; the folder lives as long as this process. Only Python and
    YAML files are there.
    """
    files = repository.files(commit, _READ)
    place = _place(package, files)
    if place is None:
        return None
    # A repository may be the package itself, as a submodule of its name.
    chosen = {
        f"{package}/{path.removeprefix(place)}": name
        for path, name in files.items()
        if path.startswith(place)
    }
    return _written(repository, chosen)


def tree_at(repository: Repository, commit: str, *below: str) -> Path:
    """Return a folder with the Python and YAML files of a commit, as ``package_at`` does; ``below`` limits it to paths."""
    return _written(repository, repository.files(commit, _READ, *below))


def _written(repository: Repository, files: Mapping[str, str]) -> Path:
    contents = dict(repository.blobs(files.values()))
    folder = Path(tempfile.mkdtemp(prefix="example-sanity-pin-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path, name in files.items():
        target = folder / path
        if ".." not in target.parts and name in contents:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents[name])
    return folder


def _place(package: str, files: Collection[str]) -> str | None:
    """Return the folder of a package among the files of a commit, with a slash; empty where the whole tree is it."""
    folders = {f"{path[: path.index(f'/{package}/')]}/{package}/" for path in files if f"/{package}/" in path}
    folders |= {f"{package}/" for path in files if path.startswith(f"{package}/")}
    regular = {folder for folder in folders if f"{folder}__init__.py" in files}
    found = min(regular or folders, key=lambda item: (item.count("/"), item), default=None)
    if found is None and "__init__.py" in {posixpath.normpath(path) for path in files}:
        return ""
    return found
