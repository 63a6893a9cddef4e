"""Where the packages are that a launch imports: the folders that Python would look into, and the configured ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.regex import regex
from example_sanity.launch import pythonpath

if TYPE_CHECKING:
    from pathlib import Path

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry
    from example_sanity.launch.syntax import Script

_ARGUMENTS = regex(r"\$[@*]|\$\{[@*]")


def own_folders(entry: Entry, project: Project) -> tuple[Path, ...]:
    """Return the folders of the project in which Python looks first for what an entry starts or imports."""
    known = project.folders
    return tuple(project.root / folder for folder in pythonpath.inside(entry) if folder in known)


def source_roots(context: Context) -> tuple[Path, ...]:
    """Return ``source-roots`` of the configuration."""
    return tuple(context.project.root / folder for folder in context.config.source_roots)


def forwards(script: Script) -> bool:
    """Return whether a script hands its own arguments on: then what it lacks may come from whoever calls it."""
    return bool(
        _ARGUMENTS.search("\n".join(line for line in script.lines if not line.lstrip().startswith("#")))
    )
