"""Where Python looks first for what an entry starts: its own folder, then what PYTHONPATH names."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.launch.command import Entry


def own_folder(entry: Entry) -> str:
    """Return what Python puts first: the current folder for a module, the folder of the file for a file.

    As the evaluation sees it: absolute, the project being ``/``.
    """
    here = entry.command.folder
    return here if entry.file is None else posixpath.normpath(posixpath.join(here, entry.file, ".."))


def given_folders(entry: Entry) -> list[str]:
    """Return the words of PYTHONPATH in order, as they stand; an empty one (the current folder) is left out."""
    return list(dict.fromkeys(word for text in _values(entry) for word in text.split(":") if word))


def _values(entry: Entry) -> Iterator[str]:
    """The values of PYTHONPATH: what Ray gives its workers, then the environment of the command."""
    try:
        environment = json.loads(entry.options.get("runtime_env_json", "{}"))
    except ValueError:
        environment = {}
    variables = environment.get("env_vars") if isinstance(environment, dict) else None
    if isinstance(variables, dict):
        yield str(variables.get("PYTHONPATH", ""))
    yield entry.command.environment.get("PYTHONPATH", "")


def inside(entry: Entry) -> list[str]:
    """Return the folders of the project (relative to it, the root empty) that Python looks into first.

    Words that name no folder of the project may be among them.
    """
    words = [own_folder(entry), *given_folders(entry)]
    full = (posixpath.join(entry.command.folder, word) for word in words)
    return list(dict.fromkeys(posixpath.normpath(word).strip("/") for word in full))
