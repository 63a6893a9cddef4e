"""Where a path that does not exist probably leads, and which folders of the repository are not its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from example_sanity.core.project import Project

_SUBMODULE = regex(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)


def submodules(project: Project) -> list[str]:
    """Return the folders of the repository that hold other repositories."""
    if ".gitmodules" not in project.all_files:
        return []
    try:
        return _SUBMODULE.findall(project.text(".gitmodules"))
    except Uninspectable:
        return []


def moved_to(path: str, project: Project) -> str | None:
    """Return what is probably meant by a path or pattern that leads nowhere, or None.

    First the path with its first wrong part replaced by the name beside it that looks most like it; then the file of the
    same name in another folder, the most similar path of several.
    """
    near = _respelt(path, project)
    if near:
        return near
    name = path.rpartition("/")[2]
    same = [] if re.search(r"[*?\[]", name) else [file for file in project.files_named(name) if file != path]
    if len(same) == 1 and "/" not in path:
        return same[0]
    # Every folder has an __init__.py; that one of them looks like the path says nothing.
    return nearest(path, same, 60) if name not in ("__init__.py", "README.md", "main.py") else None


def _respelt(path: str, project: Project) -> str | None:
    parts = path.split("/")
    for index, part in enumerate(parts):
        here = "/".join(parts[:index])
        whole = "/".join(parts[: index + 1])
        if re.search(r"[*?\[]", part) or whole in project.folders:
            continue
        best = nearest(part, _beside(here, project), 75)
        if best is None or best == part:
            return None
        again = "/".join([*parts[:index], best, *parts[index + 1 :]])
        there = again in project.all_files or again in project.folders
        return again if there or (re.search(r"[*?\[]", again) and index < len(parts) - 1) else None
    return None


def _beside(folder: str, project: Project) -> set[str]:
    """The names of what lies in a folder."""
    prefix = f"{folder}/" if folder else ""
    return {path[len(prefix) :].partition("/")[0] for path in project.all_files if path.startswith(prefix)}
