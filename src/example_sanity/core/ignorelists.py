"""Reads the ignore lists whose entries suppress findings: those of our configuration and those bound to a family."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.exemptions import Entry, Syntax
from example_sanity.core.finding import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.config import Config, IgnoreList, PerFileIgnore
    from example_sanity.core.project import Project
    from example_sanity.core.registry import Registry


def own_entries(project: Project, config: Config, registry: Registry) -> list[Entry]:
    """Return the entries of ``per-file-ignore``. Raises UsageError for an unknown rule in one."""
    if config.path is None or not config.per_file_ignore:
        return []
    locate = Locator(project.text(config.path)) if (project.root / config.path).is_file() else Locator("")
    return [_own_entry(item, config.path, locate, registry) for item in config.per_file_ignore]


def _own_entry(item: PerFileIgnore, path: str, locate: Locator, registry: Registry) -> Entry:
    where = f"{path}: per-file-ignore of {item.path!r}"
    return Entry(
        pattern=item.path,
        syntax=Syntax.GITIGNORE,
        list_name="per-file-ignore",
        path=path,
        span=locate.string(item.path, key="path"),
        rules=registry.resolve_all(item.rules, where),
        reason=item.reason,
        wants_reason=True,
    )


def bound_lists(project: Project, config: Config) -> tuple[IgnoreList, ...]:
    """Return the lists that ``ignores.list`` names and whose file is in the project.

    A preset may name lists that an older or newer checkout does not have; one that our own configuration names must
    exist. Raises UsageError.
    """
    lists: tuple[IgnoreList, ...] = getattr(config.families.get("ignores"), "list", ())
    missing = [item for item in lists if not (project.root / item.file).is_file()]
    if missing and config.preset is None:
        item = missing[0]
        hint = did_you_mean(item.file, project.all_files)
        raise UsageError(f"{config.path}: ignores.list names {item.file}, which does not exist{hint}")
    return tuple(item for item in lists if item not in missing)


def constant_entries(project: Project, item: IgnoreList, rules: frozenset[str]) -> list[Entry]:
    """Return the strings of a named list, tuple, set or dictionary (its keys) in a Python file, with their comments.

    The comment lines directly above an element, or the one behind it, are its reason. Raises UsageError when the
    constant is not there, Uninspectable when the file cannot be read.
    """
    source = project.text(item.file)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise Uninspectable(
            "SYS001", f"cannot read {item.name}: not Python for this interpreter: {error.msg}"
        ) from error
    constants = dict(_string_constants(tree))
    if item.name not in constants:
        hint = did_you_mean(item.name, constants)
        raise UsageError(f"ignores.list: {item.file} has no constant {item.name!r} that holds strings{hint}")
    lines = source.splitlines()
    return [
        Entry(
            pattern=str(node.value),
            syntax=Syntax.GLOB if re.search(r"[*?\[]", str(node.value)) else Syntax.PATH,
            list_name=item.name,
            path=item.file,
            span=_span(node, lines),
            rules=rules,
            reason=_reason(node, lines),
            wants_reason=bool(rules),
        )
        for node in constants[item.name]
    ]


def _string_constants(tree: ast.Module) -> Iterator[tuple[str, list[ast.Constant]]]:
    for statement in ast.walk(tree):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                value = getattr(statement, "value", None)
                yield target.id, [node for node in _elements(value) if isinstance(node.value, str)]


def _elements(value: ast.expr | None) -> list[ast.Constant]:
    """The constants of a display, looked for through calls such as ``frozenset((...))``."""
    if isinstance(value, ast.Call):
        return [item for argument in value.args for item in _elements(argument)]
    inner = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    return [node for node in inner if isinstance(node, ast.Constant)]


def _span(node: ast.Constant, lines: list[str]) -> Span:
    def column(line: int, offset: int) -> int:
        # ast counts bytes.
        return len(lines[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1

    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(node.lineno, column(node.lineno, node.col_offset), end_line, column(end_line, end))


def _reason(node: ast.Constant, lines: list[str]) -> str:
    behind = re.search(r"#\s*(.+)$", lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :])
    if behind:
        return behind[1].strip()
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line.strip().lstrip("# "))
    return " ".join(above).strip()


class Locator:
    """Finds where a string stands in a TOML or YAML text, each occurrence handed out once."""

    def __init__(self, text: str) -> None:
        """Remember the lines of the text."""
        self._lines = text.splitlines()
        self._taken: set[tuple[int, int]] = set()

    def string(self, value: str, key: str | None = None, section: str | None = None) -> Span:
        """Return the span of the next ``value`` (quotes included), on a line of ``key`` or below ``section`` if given.

        A value that is not found literally (escapes) gets the start of its section, or of the file.
        """
        start = self._section(section)
        for number in range(start, len(self._lines)):
            line = self._lines[number]
            if key is not None and not re.match(rf"\s*-?\s*[\"']?{re.escape(key)}[\"']?\s*[=:]", line):
                continue
            for found in re.finditer(rf"([\"'])?{re.escape(value)}(?(1)\1|(?![\w/.*-]))", line):
                if (number, found.start()) not in self._taken:
                    self._taken.add((number, found.start()))
                    return Span(number + 1, found.start() + 1, number + 1, found.end() + 1)
        return Span(start + 1, 1, start + 1, 1)

    def _section(self, section: str | None) -> int:
        if section is None:
            return 0
        return next((number for number, line in enumerate(self._lines) if re.match(section, line)), 0)
