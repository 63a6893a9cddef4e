"""What packaging files ask for: pyproject.toml, setup.cfg and setup.py, all read without running anything."""

from __future__ import annotations

import ast
import configparser
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import field
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet

from example_sanity.doctor.asked import Asked, Place, distribution, parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


_DEEPEST = 20


class Package(msgspec.Struct, frozen=True):
    """What a packaging file says: its own distribution, its requirements, and the files that it takes more from.

    ``dynamic`` are the fields that a project table leaves to other files; None where there is no such table.
    ``overrides`` are the distributions whose version uv decides, whatever the requirements say.
    """

    name: str | None = None
    asked: tuple[Asked, ...] = ()
    files: tuple[str, ...] = ()
    dynamic: frozenset[str] | None = None
    overrides: frozenset[str] = frozenset()


class _Stated(msgspec.Struct, frozen=True):
    text: str
    line: int


class _Written(msgspec.Struct, frozen=True):
    """What stands in a packaging file, before anything is made of it."""

    name: str | None
    base: list[_Stated]
    extras: Mapping[str, list[_Stated]]
    groups: Mapping[str, list[_Stated]] = field(default_factory=dict)


def _package(path: str, written: _Written, held: bool) -> Package:
    kind = path.rpartition("/")[2].replace("pyproject.toml", "pyproject")
    asked = list(_asked(path, kind, path, written.base, held))
    for option, stated in written.extras.items():
        asked += _asked(path, "extra", option, stated, False)
    for group, stated in written.groups.items():
        asked += _asked(path, "group", group, stated, False)
    return Package(distribution(written.name) if written.name else None, tuple(asked))


def _asked(path: str, kind: str, source: str, stated: list[_Stated], held: bool) -> Iterator[Asked]:
    for item in stated:
        found = parse(item.text)
        if found:
            yield found.at(Place(path, item.line, item.text), kind, source, held=held)


def pyproject(path: str, text: str, *, held: bool) -> Package:
    """Return what the standard tables of a pyproject.toml ask for; nothing where it cannot be read."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return Package()
    project = _table(data, "project")
    lines = _Lines(text)
    written = _Written(
        _text(project.get("name")),
        lines.place("dependencies", project.get("dependencies")),
        {k: lines.place(k, v) for k, v in _table(project, "optional-dependencies").items()},
        {k: lines.place(k, v) for k, v in _table(data, "dependency-groups").items()},
    )
    found = _package(path, written, held)
    dynamic = _table(data, "tool", "setuptools", "dynamic", "dependencies").get("file", [])
    files = [dynamic] if isinstance(dynamic, str) else dynamic
    built = _table(data, "tool", "uv", "sources")
    asked = tuple(_from_source(item, built) for item in found.asked)
    left = project.get("dynamic", [])
    fields = frozenset(map(str, left)) if isinstance(left, list) else frozenset[str]()
    named = tuple(str(item) for item in files)
    decided = _table(data, "tool", "uv").get("override-dependencies", [])
    overrides = [parse(str(item)) for item in decided] if isinstance(decided, list) else []
    return Package(
        found.name,
        asked,
        named,
        fields if project else None,
        frozenset(item.name for item in overrides if item),
    )


def _from_source(item: Asked, built: Mapping[str, Any]) -> Asked:
    """What uv builds from a repository has the version of that repository, whatever the window says."""
    for name, source in built.items():
        if distribution(name) == item.name and isinstance(source, dict) and "index" not in source:
            git = f"git+{source['git']}" if "git" in source else None
            address = git or source.get("url") or source.get("path") or "the workspace"
            revision = source.get("rev") or source.get("tag") or source.get("branch")
            return replace(
                item, window=SpecifierSet(), reference=f"{address}@{revision}" if revision else str(address)
            )
    return item


def _table(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        inner = data.get(key)
        data = inner if isinstance(inner, dict) else {}
    return data


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class _Lines:
    """Finds the line of a string in a text, below the key that holds it."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def place(self, key: str, values: object) -> list[_Stated]:
        """Return those values that are strings, each with its line (0 where it is not found)."""
        texts = [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
        start = next((n for n, line in enumerate(self._lines) if self._opens(line, key)), 0)
        found = []
        for text in texts:
            number = next((n for n in range(start, len(self._lines)) if self._holds(n, text)), None)
            found.append(_Stated(text, 0 if number is None else number + 1))
        return found

    @staticmethod
    def _opens(line: str, key: str) -> bool:
        return line.partition("=")[0].strip().strip("\"'") == key

    def _holds(self, number: int, text: str) -> bool:
        line = self._lines[number]
        return f'"{text}"' in line or f"'{text}'" in line or line.strip() == text


def setup_cfg(path: str, text: str, *, held: bool) -> Package:
    """Return what the options of a setup.cfg ask for; nothing where it cannot be read."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return Package()
    lines = _Lines(text)

    def listed(section: str, option: str) -> list[_Stated]:
        return lines.place(option, parser.get(section, option, fallback="").split("\n"))

    section = "options.extras_require"
    extras = (
        {option: listed(section, option) for option in parser[section]} if parser.has_section(section) else {}
    )
    name = parser.get("metadata", "name", fallback=None)
    return _package(path, _Written(name, listed("options", "install_requires"), extras), held)


def setup_py(path: str, text: str, *, held: bool) -> Package:
    """Return what the call of ``setup()`` asks for, as far as it is written out; nothing where it cannot be read.

    Names that a module assigns lists to are followed. A file that ``install_requires`` is computed from is in ``files``.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Package()
    names = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_setup(node)), None)
    given = {item.arg: item.value for item in call.keywords if item.arg} if call else {}
    base = given.get("install_requires")
    stated = _strings(base, names) if base else []
    name = next((item.text for item in _strings(given.get("name"), names)), None)
    found = _package(path, _Written(name, stated, _dictionary(given.get("extras_require"), names)), held)
    computed = _read_files(base) if base and not stated else ()
    return Package(found.name, found.asked, computed)


def _is_setup(node: ast.Call) -> bool:
    return (isinstance(node.func, ast.Name) and node.func.id == "setup") or (
        isinstance(node.func, ast.Attribute) and node.func.attr == "setup"
    )


def _strings(node: ast.expr | None, names: Mapping[str, ast.expr], depth: int = 0) -> list[_Stated]:
    """The strings of a list that is written out, over names and sums; nothing for what is computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [_Stated(node.value, node.lineno)]
    inner: list[ast.expr | None] = []
    if isinstance(node, ast.Name):
        inner = [names.get(node.id)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        inner = [node.left, node.right]
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        inner = [*node.elts]
    elif isinstance(node, ast.Starred):
        inner = [node.value]
    # A name may stand for itself: deps = deps + [...].
    return [item for part in inner for item in _strings(part, names, depth + 1)] if depth < _DEEPEST else []


def _dictionary(node: ast.expr | None, names: Mapping[str, ast.expr]) -> dict[str, list[_Stated]]:
    if isinstance(node, ast.Name):
        node = names.get(node.id)
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {
        key.value: _strings(value, names)
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _read_files(node: ast.expr) -> tuple[str, ...]:
    """The text files that an expression names."""
    constants = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
    return tuple(value for value in constants if isinstance(value, str) and value.endswith((".txt", ".in")))
