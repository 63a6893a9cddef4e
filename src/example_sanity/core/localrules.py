"""Rules that live in the repository they check: Python files that the configuration names under ``local-rules``.

Importing them executes code of that repository, which nothing else here does. So it takes two yeses: the configuration's
and that of whoever makes the call.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from example_sanity.core.errors import UsageError, nearest
from example_sanity.core.registry import hookimpl
from example_sanity.core.rule import Contents, Family, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

FAMILY, PREFIX = "local", "LOC"


class _Local:
    """Offers the rules of all files that only say RULES as one family."""

    def __init__(self, rules: tuple[type[Rule], ...]) -> None:
        self._rules = rules

    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        return (Family(FAMILY, PREFIX, "rules of this repository", lambda: Contents(self._rules)),)


def load(root: Path, names: Sequence[str], where: str, *, allowed: bool) -> list[object]:
    """Import the files and return them as plugins. A file has hooks, or a tuple ``RULES`` of rules.

    ``where`` names the configuration. Raises UsageError when that is not ``allowed``, for a file that is not in the
    project, that cannot be imported, or that offers nothing.
    """
    if names and not allowed:
        raise UsageError(
            f"{where}: local-rules names {', '.join(names)}. That is code of the checked repository, and this call would "
            "execute it; if you trust it, add --allow-local-rules (or set EXAMPLE_SANITY_ALLOW_LOCAL_RULES=1)"
        )
    modules = [_import(_file(root, name, where), name, where) for name in names]
    rules = tuple(rule for module in modules for rule in getattr(module, "RULES", ()))
    return [*filter(_has_hooks, modules), *([_Local(rules)] if rules else [])]


def _file(root: Path, name: str, where: str) -> Path:
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{where}: local-rules: {name} lies outside the project")
    if path.is_file() and path.suffix == ".py":
        return path
    known = (file.relative_to(root).as_posix() for file in path.parent.glob("*.py"))
    best = nearest(name, known) if path.parent.is_dir() else None
    hint = f" (did you mean {best!r}?)" if best else ""
    raise UsageError(f"{where}: local-rules: there is no Python file {name}{hint}")


def _import(path: Path, name: str, where: str) -> ModuleType:
    # A name of its own: the file must not be mistaken for another module, nor be found by one.
    module_name = "example_sanity_local_rules." + "_".join(PurePosixPath(name).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        # Not through the loader: it would answer from bytecode that is as old as the second, and write some.
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except Exception as error:
        del sys.modules[module_name]
        line = next(
            (f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)), None
        )
        place = f"{name}:{line}" if line else name
        raise UsageError(f"{where}: local-rules: {place}: {type(error).__name__}: {error}") from error
    if not _has_hooks(module) and not _is_rules(getattr(module, "RULES", None)):
        raise UsageError(f"{where}: local-rules: {name} has neither hooks nor a tuple RULES of rules")
    return module


def _has_hooks(module: ModuleType) -> bool:
    return any(hasattr(item, "example_sanity_impl") for item in vars(module).values())


def _is_rules(found: object) -> bool:
    return (
        isinstance(found, tuple)
        and bool(found)
        and all(isinstance(item, type) and issubclass(item, Rule) for item in found)
    )
