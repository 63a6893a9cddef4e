"""Finds ``@hydra.main`` in a Python file, and what it says of the configuration."""

from __future__ import annotations

import ast
import os.path
from pathlib import Path

import msgspec


class HydraMain(msgspec.Struct, frozen=True):
    """The arguments of ``@hydra.main``: ``path`` as written (relative to the file, absolute, or ``pkg://``), and the name."""

    file: Path
    line: int
    path: str | None
    name: str | None

    @property
    def folder(self) -> str | None:
        """The configuration folder as a host path or ``pkg://…``; None where there is none."""
        return located(self.file.parent, self.path)


def located(folder: Path, path: str | None) -> str | None:
    """Return a ``config_path`` relative to ``folder`` as Hydra takes it, None for none."""
    if path is None or path.startswith("pkg://"):
        return path
    return os.path.normpath(folder / path.removeprefix("file://"))


def hydra_main(file: Path) -> HydraMain | None:
    """Return the first function of a file that is decorated with ``hydra.main``, or None.

    Arguments that are no literals make the configuration unknown: they count as not given.
    """
    try:
        data = file.read_bytes()
        if b"hydra" not in data:
            return None
        tree = ast.parse(data)
    except (OSError, SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("hydra.main", "main"):
                    return _read(file, call)
    return None


def _read(file: Path, call: ast.Call) -> HydraMain:
    given: dict[str, object] = dict(
        zip(("config_path", "config_name"), map(_literal, call.args), strict=False)
    )
    given.update({item.arg: _literal(item.value) for item in call.keywords if item.arg})
    path, name = given.get("config_path"), given.get("config_name")
    return HydraMain(
        file,
        call.lineno,
        path if isinstance(path, str) else None,
        name.removesuffix(".yaml") if isinstance(name, str) else None,
    )


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
