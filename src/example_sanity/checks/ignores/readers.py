"""Reads the lists of other tools: ruff, mypy, pre-commit and CODEOWNERS."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.checks.ignores.regexes import alternatives
from example_sanity.core.errors import Uninspectable
from example_sanity.core.exemptions import Effect, Entry, Syntax
from example_sanity.core.finding import Span
from example_sanity.core.textplaces import Place, Positions, own_lines, toml_places, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.core.textplaces import Key

_RUFF_LISTS = ("exclude", "extend-exclude", "lint.exclude", "format.exclude")
_RUFF_TABLES = (
    "per-file-ignores",
    "extend-per-file-ignores",
    "lint.per-file-ignores",
    "lint.extend-per-file-ignores",
)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML text. Raises Uninspectable."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Uninspectable("SYS001", f"cannot read its ignore lists: not valid TOML: {error}") from error


def _get(data: Any, key: Key) -> Any:
    for part in key:
        data = data.get(part) if isinstance(data, dict) else None
    return data


class TomlLists:
    """The lists of a TOML file: ``data``, and where each value stands."""

    def __init__(self, path: str, text: str) -> None:
        """Parse the text. Raises Uninspectable."""
        self.path = path
        self.data = parse_toml(text)
        self.places = toml_places(text)
        self.lines = text.split("\n")

    @property
    def base(self) -> str:
        """The folder of the file."""
        return self.path.rpartition("/")[0]

    def strings(self, key: Key) -> Iterator[tuple[str, Span, Span | None]]:
        """Yield each string of the list (or the string) at ``key``, its span, and what to remove to delete it."""
        value = _get(self.data, key)
        if isinstance(value, str) and key in self.places:
            place = self.places[key]
            yield value, place.span, self._assignment(place)
        for number, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, str) and (*key, number) in self.places:
                span = self.places[(*key, number)].span
                yield item, span, own_lines(self.lines, span)

    def _assignment(self, place: Place) -> Span | None:
        return own_lines(self.lines, _joined(place))

    def keys(self, key: Key) -> Iterator[tuple[str, Any, Span, Span | None]]:
        """Yield each key of the table at ``key``, its value, its span, and what to remove to delete it."""
        value = _get(self.data, key)
        for name, item in value.items() if isinstance(value, dict) else ():
            place = self.places.get((*key, name))
            if place:
                start = place.start
                line = self.lines[start.line - 1]
                quoted = re.match(r"\"(?:\\.|[^\"])*\"|'[^']*'|[^\s=]+", line[start.column - 1 :])
                end = start.column + (len(quoted[0]) if quoted else 1)
                span = Span(start.line, start.column, start.line, end)
                yield name, item, span, self._assignment(place)


def _joined(place: Place) -> Span:
    return Span(place.start.line, place.start.column, place.span.end_line, place.span.end_column)


def ruff_entries(lists: TomlLists, prefix: Key, label: str) -> Iterator[Entry]:
    """Yield what ruff's settings leave out; ``prefix`` is where they stand in the file."""
    for name in _RUFF_LISTS:
        title = f"{label}{name}"
        for pattern, span, removal in lists.strings((*prefix, *name.split("."))):
            if _is_outside(pattern):
                continue
            yield Entry(
                pattern,
                Syntax.RUFF,
                title,
                lists.path,
                span,
                bases=(lists.base,),
                group=title,
                removal=removal,
            )
    for name in _RUFF_TABLES:
        title = f"{label}{name}"
        for pattern, codes, span, removal in lists.keys((*prefix, *name.split("."))):
            if _is_outside(pattern):
                continue
            values = frozenset(map(str, codes)) if isinstance(codes, list) else frozenset()
            yield Entry(
                pattern,
                Syntax.RUFF_FILE,
                title,
                lists.path,
                span,
                bases=(lists.base,),
                group=title,
                values=values,
                removal=removal,
            )


def _is_outside(pattern: str) -> bool:
    """Whether a pattern of ruff is absolute, or leaves the folder of its file: nothing is known there."""
    return pattern.startswith(("/", "~", "$")) or ".." in pattern.split("/")


def mypy_toml_entries(lists: TomlLists) -> Iterator[Entry]:
    """Yield the ``exclude`` expressions and the modules of the overrides in ``[tool.mypy]``."""
    key: Key = ("tool", "mypy", "exclude")
    for expression, span, removal in lists.strings(key):
        whole = Entry(expression, Syntax.FOLDER_REGEX, "mypy exclude", lists.path, span, removal=removal)
        yield from regex_entries(whole, lists.lines)
    overrides = _get(lists.data, ("tool", "mypy", "overrides"))
    for number, table in enumerate(overrides if isinstance(overrides, list) else ()):
        modules = table.get("module") if isinstance(table, dict) else None
        for index, module in enumerate(modules if isinstance(modules, list) else [modules]):
            place: Key = ("tool", "mypy", "overrides", number, "module")
            place = place if isinstance(modules, str) else (*place, index)
            # A section that says "may be missing" is there for modules that are missing here.
            if isinstance(module, str) and place in lists.places and not _may_be_missing(table):
                span = lists.places[place].span
                removal = None if isinstance(modules, str) else own_lines(lists.lines, span)
                yield module_entry(module, lists.path, span, f"mypy overrides {number}", removal)


def _may_be_missing(options: dict[str, Any]) -> bool:
    """Whether a section is there for modules that are built or installed at times."""
    return any(
        str(options.get(name)).lower() == "true"
        for name in ("ignore_missing_imports", "follow_untyped_imports")
    )


def module_entry(module: str, path: str, span: Span, group: str, removal: Span | None = None) -> Entry:
    """Return the entry of a module pattern in an override of mypy."""
    folder = path.rpartition("/")[0]
    bases = tuple(dict.fromkeys((folder, f"{folder}/src".lstrip("/"))))
    return Entry(
        module, Syntax.MODULE, "mypy overrides", path, span, bases=bases, group=group, removal=removal
    )


def regex_entries(whole: Entry, lines: Sequence[str]) -> Iterator[Entry]:
    """Yield an entry for each alternative of the expression that is ``whole``, placed where it stands in the file."""
    found = alternatives(whole.pattern)
    folder = whole.path.rpartition("/")[0]
    whole = msgspec.structs.replace(
        whole, bases=tuple(dict.fromkeys(("", folder))), group=whole.group or whole.list_name
    )
    if len(found) == 1:
        yield msgspec.structs.replace(whole, pattern=found[0].text, expression=whole.pattern)
        return
    at = whole.span
    for item in found:
        at = _find(item.text.split("\n")[0], at, lines)
        yield msgspec.structs.replace(
            whole, pattern=item.text, expression=item.expression, span=at, removal=None
        )
        at = Span(at.line, at.end_column, whole.span.end_line, whole.span.end_column)


def _find(text: str, within: Span, lines: Sequence[str]) -> Span:
    for number in range(within.line, within.end_line + 1):
        start = lines[number - 1].find(text, within.column - 1 if number == within.line else 0)
        if start >= 0:
            return Span(number, start + 1, number, start + len(text) + 1)
    return within


def mypy_ini_entries(path: str, text: str) -> Iterator[Entry]:
    """Yield the same from mypy.ini or setup.cfg, where overrides are sections called ``mypy-PATTERN,PATTERN``."""
    lines = text.split("\n")
    for section, options, span in _ini_sections(lines):
        if section == "mypy" and "exclude" in options:
            value, where = options["exclude"]
            whole = Entry(value, Syntax.FOLDER_REGEX, "mypy exclude", path, where)
            yield from regex_entries(whole, lines)
        elif section.startswith("mypy-") and not _may_be_missing({k: v for k, (v, _) in options.items()}):
            column = span.column + len("mypy-")
            for module in section.removeprefix("mypy-").split(","):
                shift = column + len(module) - len(module.lstrip())
                place = Span(span.line, shift, span.line, shift + len(module.strip()))
                yield module_entry(module.strip(), path, place, section)
                column += len(module) + 1


def _ini_sections(lines: Sequence[str]) -> Iterator[tuple[str, dict[str, tuple[str, Span]], Span]]:
    """Yield each section: its name, its options with their spans, and the span of the name."""
    section, place = "", Span()
    options: dict[str, tuple[str, Span]] = {}
    key = ""
    for number, line in enumerate(lines, 1):
        header = re.match(r"\[(.+?)\]", line)
        option = re.match(r"([\w.-]+)\s*[=:]\s*(.*)", line)
        if header:
            yield section, options, place
            section, place = header[1], Span(number, 2, number, 2 + len(header[1]))
            options, key = {}, ""
        elif option:
            key = option[1]
            options[key] = (option[2], Span(number, option.start(2) + 1, number, len(line) + 1))
        elif key and line[:1].isspace() and line.strip():
            value, span = options[key]
            end = Span(span.line, span.column, number, len(line) + 1)
            options[key] = (f"{value}\n{line.strip()}", end)
    yield section, options, place


def precommit_entries(path: str, text: str) -> Iterator[Entry]:
    """Yield ``files`` and ``exclude`` of a pre-commit configuration and of its hooks. Raises Uninspectable."""
    import yaml

    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        message = str(error).replace("\n", " ")
        raise Uninspectable("SYS001", f"cannot read its ignore lists: not valid YAML: {message}") from error
    lines = text.split("\n")
    positions = Positions(text)
    for number, (title, table) in enumerate(_hook_tables(root)):
        for key, node in table:
            if key.value in ("files", "exclude") and isinstance(node, yaml.ScalarNode):
                selects = key.value == "files"
                whole = Entry(
                    node.value,
                    Syntax.REGEX,
                    f"{key.value}{title}",
                    path,
                    _yaml_span(node, node, positions),
                    effect=Effect.SELECTS if selects else Effect.LEAVES_OUT,
                    group=f"{key.value} {number}",
                    removal=None if selects else own_lines(lines, _yaml_span(key, node, positions)),
                )
                yield from regex_entries(whole, lines)


def _hook_tables(root: Any) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """Yield the items of the file as a whole, then of each hook, with words that say which."""
    top = _items(root)
    yield "", top
    for key, repositories in top:
        if key.value == "repos":
            for repository in _values(repositories):
                for name, hooks in _items(repository):
                    for hook in _values(hooks) if name.value == "hooks" else ():
                        items = _items(hook)
                        called = next((value.value for key, value in items if key.value == "id"), "?")
                        yield f" of hook {called}", items


def _yaml_span(first: Any, last: Any, positions: Positions) -> Span:
    # Offsets, because YAML knows more line ends than editors do. A block scalar ends where the next item begins.
    start, end = first.start_mark.index, last.end_mark.index
    return positions.span(start, start + len(positions.text[start:end].rstrip()))


def _items(node: Any) -> list[tuple[Any, Any]]:
    import yaml

    return node.value if isinstance(node, yaml.MappingNode) else []


def _values(node: Any) -> list[Any]:
    import yaml

    return node.value if isinstance(node, yaml.SequenceNode) else []


def codeowners_entries(path: str, text: str) -> Iterator[Entry]:
    """Yield the patterns of a CODEOWNERS file; the sections that GitLab knows are lists of their own."""
    section = ""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        header = re.match(r"\^?\[([^\]]+)\]", line)
        found = re.match(r"\s*((?:\\.|[^\s#\\])(?:\\.|[^\s\\])*)", line)
        if header:
            section = header[1]
        elif found and not line.lstrip().startswith("!"):
            yield Entry(
                found[1],
                Syntax.CODEOWNERS,
                "CODEOWNERS",
                path,
                Span(number, found.start(1) + 1, number, found.end(1) + 1),
                effect=Effect.ASSIGNS,
                group=f"CODEOWNERS {section}",
                removal=whole_lines(lines, number, number),
            )
