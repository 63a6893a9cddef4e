"""The configuration: where it is found, what it may say, and what a mistake in it gets."""

from __future__ import annotations

import codecs
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.core.finding import Severity
from example_sanity.core.project import CONFIG_NAMES
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from example_sanity.core.rule import Family

Struct = TypeVar("Struct", bound=msgspec.Struct)
_TABLE = regex(r"(?<=`)object(?=`)|Object")  # msgspec's word for what TOML calls a table


class PerFileIgnore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[tool.example-sanity.per-file-ignore]]``: rules that do not count in some files, and why.

    ``path`` is a gitignore-style pattern; ``rules`` are codes, names or families.
    """

    path: str
    rules: tuple[str, ...]
    reason: str = ""


class IgnoreList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[tool.example-sanity.ignores.list]]``: an ignore list that lives in another file.

    ``file`` is a Python file and ``name`` the constant that holds the list. ``family`` is the rule family whose
    findings the entries suppress; without it the list is only checked for stale entries.
    """

    file: str
    name: str
    family: str | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity]`` without the tables of the families.

    ``preset`` names the conventions of a project (verl, megatron-lm, slime). ``include`` and ``exclude`` are
    gitignore-style patterns. ``baseline`` is the file of accepted findings. ``source_roots`` are folders, absolute or
    relative to the root, in which packages lie that launchers start or programs import and that are not in the project
    (a checkout of verl or Megatron-LM): they are read, never imported. ``local_rules`` are Python files of the
    repository that hold rules. ``select`` and ``ignore`` are codes, names or families. ``families`` holds the options
    of each family as its struct; ``path`` is the file that was read, relative to the root.
    """

    preset: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity = Severity.ERROR
    baseline: str | None = None
    source_roots: tuple[str, ...] = ()
    per_file_ignore: tuple[PerFileIgnore, ...] = ()
    local_rules: tuple[str, ...] = ()
    families: dict[str, Any] = {}
    path: str | None = None

    def options(self, family: str, kind: type[Struct]) -> Struct:
        """Return the options of a family, its defaults where the configuration says nothing."""
        found = self.families.get(family)
        return found if isinstance(found, kind) else kind()


def load(
    root: Path,
    families: Sequence[Family],
    presets: Mapping[str, Mapping[str, Any]],
    *,
    file: Path | None = None,
    preset: str | None = None,
) -> Config:
    """Read the configuration of a project.

    ``file`` replaces the search under ``root``, ``preset`` what the file names. Raises UsageError with the nearest
    right word for a table, key, value or preset that there is none of.
    """
    path, table = (file, _read(file, _table_of(file))) if file else _search(root)
    name = preset or table.get("preset")
    if name is not None and name not in presets:
        known = ", ".join(sorted(presets))
        raise UsageError(f"unknown preset {name!r}{did_you_mean(str(name), presets)}; there are: {known}")
    where = f"{path.name if path else 'preset'}: [tool.example-sanity]"
    merged = _merge(presets[name] if name else {}, table)
    merged.pop("preset", None)
    config = _build(merged, families, where)
    return msgspec.structs.replace(config, preset=name, path=_shown(path, root))


def local_rules(root: Path, file: Path | None = None) -> tuple[str, tuple[str, ...]]:
    """Return where the configuration is written and which files with rules it names. Raises UsageError."""
    path, table = (file, _read(file, _table_of(file))) if file else _search(root)
    where = f"{path.name if path else 'preset'}: [tool.example-sanity]"
    names = {"local-rules": table["local-rules"]} if "local-rules" in table else {}
    return where, convert(names, Config, where).local_rules


def _build(table: dict[str, Any], families: Sequence[Family], where: str) -> Config:
    by_name = {family.name: family for family in families}
    tables = {name: table.pop(name) for name in list(table) if name in by_name}
    known = [
        field.encode_name
        for field in msgspec.structs.fields(Config)
        if field.name not in ("families", "path")
    ]
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}{did_you_mean(key, [*known, *by_name])}")
    config = convert(table, Config, where)
    options = {name: convert(tables[name], by_name[name].options, f"{where}.{name}") for name in tables}
    return msgspec.structs.replace(config, families=options)


def _shown(path: Path | None, root: Path) -> str | None:
    if path is None:
        return None
    absolute = path.resolve()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else str(absolute)


def convert(table: object, kind: type[Struct], where: str) -> Struct:
    """Turn plain data into a struct. Raises UsageError that names the key, its place and the nearest known one."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {_explain(str(error), kind)}") from error


def _explain(text: str, kind: type[msgspec.Struct]) -> str:
    found = re.match(r"Object contains unknown field `(.*?)`", text)
    if not found:
        return _TABLE.sub("table", text.replace("`$.", "`").replace("$[...]", "items"))
    return f"unknown key {found[1]!r}{did_you_mean(found[1], _key_names(kind))}"


def _key_names(kind: type[msgspec.Struct]) -> set[str]:
    """The keys of a struct and of the structs that it is built from."""
    names: set[str] = set()
    for field in msgspec.structs.fields(kind):
        names.add(field.encode_name)
        for inner in (field.type, *_arguments(field.type)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                names |= _key_names(inner)
    return names


def _arguments(annotation: object) -> list[object]:
    inner = list(getattr(annotation, "__args__", ()))
    return inner + [deeper for item in inner for deeper in _arguments(item)]


def _search(root: Path) -> tuple[Path | None, dict[str, Any]]:
    for name in CONFIG_NAMES:
        path = root / name
        if path.is_file():
            table = _read(path, _table_of(path))
            if table or name == "example-sanity.toml":
                return path, table
    return None, {}


def _table_of(path: Path) -> tuple[str, ...]:
    return ("tool", "example-sanity") if path.name == "pyproject.toml" else ()


def parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML text. Raises ValueError for one that is not valid."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


@lru_cache(maxsize=4)  # a run asks twice, and the packaging file of a large project takes a while
def _parsed(text: str) -> dict[str, Any]:
    return parse_toml(text)


def _read(path: Path, table: tuple[str, ...]) -> dict[str, Any]:
    try:
        data = _parsed(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path.name} is not valid TOML: {_why_no_toml(path, error)}") from error
    # A file of our own may also be written as an excerpt of pyproject.toml.
    tool = data.get("tool", {})
    if not table and not (isinstance(tool, dict) and isinstance(tool.get("example-sanity"), dict)):
        return data
    for number, key in enumerate(("tool", "example-sanity"), 1):
        data = data.get(key, {})
        if not isinstance(data, dict):
            where = ".".join(("tool", "example-sanity")[:number])
            raise UsageError(f"{path.name}: [{where}] must be a table")
    return data


def _why_no_toml(path: Path, error: ValueError) -> str:
    """An editor does not show a byte order mark, so "invalid statement" would not help."""
    if path.read_bytes().startswith(codecs.BOM_UTF8):
        return "it starts with a byte order mark; save it as UTF-8 without one"
    return str(error)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one table over another: sub-tables key by key, everything else replaced."""
    result = dict(base)
    for key, value in over.items():
        inner = result.get(key)
        result[key] = _merge(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return result
