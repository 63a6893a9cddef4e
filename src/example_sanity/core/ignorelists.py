"""Reads the ignore lists whose entries suppress findings: those of our configuration and those bound to a family."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.exemptions import Effect, Entry, Syntax, reason_of
from example_sanity.core.finding import Span
from example_sanity.core.patterns import predicate
from example_sanity.core.textplaces import own_lines, toml_places, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.core.config import Config, IgnoreList, PerFileIgnore
    from example_sanity.core.project import Project
    from example_sanity.core.registry import Registry
    from example_sanity.core.textplaces import Key, Place

TABLE: tuple[str, ...] = ("tool", "example-sanity")


def own_entries(project: Project, config: Config, registry: Registry) -> list[Entry]:
    """Return the entries of ``per-file-ignore``. Raises UsageError for an unknown rule in one."""
    if not config.per_file_ignore:
        return []
    where = config.path or f"preset {config.preset}"
    text = project.text(where) if (project.root / where).is_file() else ""
    places = toml_places(text)
    lines = text.split("\n")
    # A file of our own may also be written as an excerpt of pyproject.toml.
    prefix = TABLE if any(key[:2] == TABLE for key in places) else ()
    found = []
    for number, item in enumerate(config.per_file_ignore):
        key: Key = (*prefix, "per-file-ignore", number)
        entry = _own_entry(item, where, registry)
        if (*key, "path") in places:
            removal = _table_lines(places, key, lines)
            entry = msgspec.structs.replace(entry, span=places[(*key, "path")].span, removal=removal)
        found.append(entry)
    return found


def _own_entry(item: PerFileIgnore, path: str, registry: Registry) -> Entry:
    where = f"{path}: per-file-ignore of {item.path!r}"
    try:
        predicate(item.path, Syntax.GITIGNORE)
    except ValueError as error:
        raise UsageError(f"{where}: not a gitignore pattern") from error
    if item.path.startswith("!"):
        raise UsageError(f"{where}: a path cannot be negated; name the files whose findings do not count")
    return Entry(
        pattern=item.path,
        syntax=Syntax.GITIGNORE,
        list_name="per-file-ignore",
        path=path,
        rules=registry.resolve_all(item.rules, where),
        reason=reason_of(item.reason),
        wants_reason=True,
        effect=Effect.SUPPRESSES,
        group="per-file-ignore",
    )


def _table_lines(places: dict[Key, Place], key: Key, lines: Sequence[str]) -> Span | None:
    """The lines of one ``[[...]]`` table, its comments and the blank lines behind it included."""
    header = places[key].span
    if lines[header.line - 1][header.column - 1] == "{":
        return own_lines(lines, header)
    first = header.line
    while first > 1 and lines[first - 2].strip().startswith("#"):
        first -= 1
    last = max(place.span.end_line for inner, place in places.items() if inner[: len(key)] == key)
    while last < len(lines) and not lines[last].strip():
        last += 1
    return whole_lines(lines, first, last)


def bound_lists(project: Project, config: Config, registry: Registry) -> tuple[IgnoreList, ...]:
    """Return the lists that ``ignores.list`` names and whose file is in the project.

    A preset may name lists that an older or newer checkout does not have; one that our own configuration names must
    exist. Raises UsageError.
    """
    lists: tuple[IgnoreList, ...] = getattr(config.families.get("ignores"), "list", ())
    present = []
    for item in lists:
        project.watch(f"file:{item.file}")
        if (project.root / item.file).is_file():
            present.append(item)
        elif not _is_from_preset(item, config, registry):
            hint = did_you_mean(item.file, project.all_files)
            raise UsageError(f"{config.path}: ignores.list names {item.file}, which does not exist{hint}")
    return tuple(present)


def _is_from_preset(item: IgnoreList, config: Config, registry: Registry) -> bool:
    preset = registry.presets.get(config.preset or "", {})
    return any(
        (row["file"], row["name"]) == (item.file, item.name)
        for row in preset.get("ignores", {}).get("list", ())
    )


def bound_entries(project: Project, config: Config, registry: Registry, item: IgnoreList) -> list[Entry]:
    """Return the entries of a bound list.

    Raises UsageError for an unknown family or constant (one that a preset names may be missing), Uninspectable when
    the file cannot be read.
    """
    rules = registry.resolve(item.family, "ignores.list") if item.family else frozenset()
    constants = string_constants(project, item.file)
    if item.name in constants:
        return constant_entries(project, item, rules, constants[item.name])
    if _is_from_preset(item, config, registry):
        return []
    hint = did_you_mean(item.name, constants)
    raise UsageError(f"ignores.list: {item.file} has no constant {item.name!r} that holds strings{hint}")


class Constant(msgspec.Struct, frozen=True):
    """A named list of strings: the line it begins on, its elements, and whether any of them may be deleted alone."""

    line: int
    elements: tuple[ast.Constant, ...]
    deletable: bool


def string_constants(project: Project, path: str) -> dict[str, Constant]:
    """Return the named lists, tuples, sets and dictionaries (their keys) of strings in a Python file.

    Raises Uninspectable when the file cannot be read.
    """
    return _constants_of(project.text(path))


@lru_cache(maxsize=8)
def _constants_of(source: str) -> dict[str, Constant]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        message = f"cannot read its ignore lists: not Python for this interpreter: {error}"
        raise Uninspectable("SYS001", message) from error
    return dict(_string_constants(tree, source))


def _string_constants(tree: ast.Module, source: str) -> Iterator[tuple[str, Constant]]:
    lines = re.split(rb"\r\n?|\n", source.encode("utf-8"))  # ast counts bytes
    for statement in ast.walk(tree):
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        value = statement.value
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            elements = tuple(node for node in _elements(value) if isinstance(node.value, str))
            if isinstance(target, ast.Name) and (elements or _is_display(value)):
                yield target.id, Constant(statement.lineno, elements, _is_deletable(value, lines))


def _is_display(value: ast.expr | None) -> bool:
    return isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Call))


def _elements(value: ast.expr | None) -> list[ast.Constant]:
    """The constants of a display, looked for through calls such as ``frozenset((...))``."""
    if isinstance(value, ast.Call):
        return [item for argument in value.args for item in _elements(argument)]
    inner = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    return [node for node in inner if isinstance(node, ast.Constant)]


def _is_deletable(value: ast.expr | None, lines: Sequence[bytes]) -> bool:
    """Whether the display stays one when any element goes: ``("a", "b")`` without ``"a", `` is no tuple."""
    if isinstance(value, ast.Call):
        return all(_is_deletable(argument, lines) for argument in value.args)
    # A tuple that keeps one element needs its comma.
    if isinstance(value, ast.Tuple):
        return re.search(rb",\s*(#[^\n]*\s*)*\)$", _bytes_of(value, lines)) is not None
    return isinstance(value, ast.List)


def _bytes_of(node: ast.expr, lines: Sequence[bytes]) -> bytes:
    """The text of a node; ast.get_source_segment goes through the file letter by letter."""
    last = node.end_lineno or node.lineno
    text = [*lines[node.lineno - 1 : last - 1], lines[last - 1][: node.end_col_offset]]
    return b"\n".join(text)[node.col_offset :]


def constant_entries(
    project: Project, item: IgnoreList, rules: frozenset[str], constant: Constant
) -> list[Entry]:
    """Return the strings of a constant as entries.

    The reason of an element is the comment behind it; else the comment above it or above the run of elements that it
    stands in (a blank line ends a run); for the first run also the comment above the constant.
    """
    lines = re.split(r"\r\n?|\n", project.text(item.file))  # as ast counts them
    found = []
    for node in constant.elements:
        span = _span(node, lines)
        pattern = str(node.value)
        found.append(
            Entry(
                pattern=pattern,
                syntax=Syntax.GLOB if re.search(r"[*?\[]", pattern) else Syntax.PATH,
                list_name=item.name,
                path=item.file,
                span=span,
                rules=rules,
                reason=_reason(span, constant.line, lines),
                wants_reason=bool(rules),
                effect=Effect.SUPPRESSES if rules else Effect.LEAVES_OUT,
                group=item.name,
                removal=own_lines(lines, span) if constant.deletable else None,
            )
        )
    return found


def _span(node: ast.Constant, lines: list[str]) -> Span:
    def column(line: int, offset: int) -> int:
        # ast counts bytes.
        return len(lines[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1

    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(node.lineno, column(node.lineno, node.col_offset), end_line, column(end_line, end))


def _reason(span: Span, opening: int, lines: list[str]) -> str:
    behind = re.search(r"#\s*(.+)$", lines[span.end_line - 1][span.end_column - 1 :])
    if behind and reason_of(behind[1]):
        return reason_of(behind[1])
    number = span.line - 1
    # Elements that follow one another share the comment above the first.
    while number > opening and lines[number - 1].strip() and not _is_comment(lines[number - 1]):
        number -= 1
    if number == opening:
        number -= 1  # above the constant itself
    last = number
    while number > 0 and _is_comment(lines[number - 1]):
        number -= 1
    return reason_of(" ".join(line.strip().lstrip("# ") for line in lines[number:last]))


def _is_comment(line: str) -> bool:
    return line.strip().startswith("#")
