"""What each Python process of a run does before anything else: a ``sitecustomize.py`` on PYTHONPATH (docs of ``site``)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from example_sanity.launch.pythonpath import given_folders
from example_sanity.launch.world import HOME

if TYPE_CHECKING:
    from example_sanity.launch.command import Entry

_FILE = "sitecustomize.py"


def first_import(entry: Entry, root: Path, host: Mapping[str, str]) -> Path | None:
    """Return the ``sitecustomize.py`` that the Python of an entry imports from PYTHONPATH, or None.

    ``host`` is the environment of the run; its PYTHONPATH counts behind what the launcher puts there.
    """
    for word in (*given_folders(entry), *host.get("PYTHONPATH", "").split(":")):
        for folder in _places(word, entry.command.folder, root) if word else ():
            if (folder / _FILE).is_file():
                return folder / _FILE
    return None


def _places(word: str, folder: str, root: Path) -> Iterator[Path]:
    """Where a word may lead: the evaluation has the project at ``/``, and paths that the user gave as they are."""
    if word == HOME or word.startswith(f"{HOME}/"):
        yield Path.home() / word.removeprefix(HOME).strip("/")
    elif word.startswith("/"):
        yield from (Path(word), root / word.strip("/"))
    else:
        yield root / folder.strip("/") / word


def switches(path: Path) -> list[str]:
    """Return the environment variables that a Python file reads by name, in order; none of one that cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.expr)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    return list(dict.fromkeys(name for node in nodes if (name := _read(node)) is not None))


def _read(node: ast.AST) -> str | None:
    """The variable of ``os.environ.get("X")``, ``os.getenv("X")``, ``os.environ["X"]`` and ``"X" in os.environ``."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="get", value=ast.Attribute(attr="environ")),
            args=[ast.Constant(value=name), *_],
        ):
            pass
        case ast.Call(func=ast.Attribute(attr="getenv"), args=[ast.Constant(value=name), *_]):
            pass
        case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=name)):
            pass
        case ast.Compare(left=ast.Constant(value=name), comparators=[ast.Attribute(attr="environ")]):
            pass
        case _:
            return None
    return name if isinstance(name, str) else None


def note(path: Path) -> str:
    """Return what a plan says of such a file where Ray starts many Python processes."""
    found = switches(path)
    read = f"; from the environment it reads {', '.join(found)}" if found else ""
    return (
        f"{path} is on PYTHONPATH, so every Python process of the run imports it first; Ray gives its agents 15 s to start, and does "
        f"not come up (ray-not-up) where that takes longer{read}"
    )
