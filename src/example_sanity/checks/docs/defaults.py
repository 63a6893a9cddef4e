"""DOC005: defaults in tables of documents that are not those of the scripts, configurations and parsers."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple, cast

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.keys import FIELD, Keys
from example_sanity.checks.docs.literals import UNKNOWN, documented, literal, same, shown
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Related, Severity, Span
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.literals import Literal
    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project
    from example_sanity.launch.syntax import Script

_DEFAULT = regex(r"\bdefault\b(?!\s+(?:port|filled|if))|默认", re.IGNORECASE)
_VARIABLE = regex(r"[A-Z][A-Z0-9_]+")
_FLAG = regex(r"--[a-z][\w-]*")
_KEY = regex(r"[a-z_]\w*(?:\.[A-Za-z_]\w*)+")
_QUOTED = regex(rb"[\"'](--[a-z][\w-]*)[\"']")
_SCRIPT = "examples/ppo/run_a_fsdp.sh"
_FILES = {_SCRIPT: "NNODES=${NNODES:-1}\npython3 train.py $NNODES\n"}
_TABLE = "| Variable | Default |\n|---|---|\n| `NNODES` | `%s` |\n"


class _Default(NamedTuple):
    """A default in the sources, and where it is."""

    value: Literal
    path: str
    span: Span


class DocWrongDefault(DocumentRule):
    """A table of a document gives a default that is not the one in the sources.

    Looked at are tables with a column "default": variables are compared with the scripts that the document names, or
    that stand beside it, keys with the YAML files and dataclasses of the configuration, flags with the parsers. Where the
    sources have several defaults of a name, one that agrees is enough; None and values that are no plain literal are
    passed over.
    """

    code = "DOC005"
    name = "doc-wrong-default"
    summary = "a table gives a default that the sources do not have"
    severity = Severity.WARNING
    bad = (
        Example(_TABLE % 2, "examples/ppo/README.md", _FILES),
        Example(
            "| Key | Default |\n|---|---|\n| `trainer.steps` | `100` |\n",
            "README.md",
            {
                "app/config/train.yaml": "defaults:\n  - _self_\n\ntrainer:\n  steps: 10\n\nmodel:\n  path: null\n"
            },
        ),
    )
    good = (Example(_TABLE % 1, "examples/ppo/README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for table in document.tables:
            column = next((at for at, title in enumerate(table.header) if _DEFAULT.search(title)), None)
            if not column:
                continue
            for row, number in zip(table.rows, table.numbers, strict=False):
                yield from self._row(document, row, column, number, context)

    def _row(
        self, document: Document, row: tuple[str, ...], column: int, number: int, context: Context
    ) -> Iterator[Finding]:
        if len(row) <= column:
            return
        name = row[0].strip(" `*")
        value = documented(row[column])
        found = [] if value is UNKNOWN else list(_defaults(name, document, context))
        # Where a source says None, the program puts in the value that it works with later.
        if not found or any(same(value, item.value) or item.value is None for item in found):
            return
        line = document.lines[number - 1]
        start = max(line.find(row[column].strip(), line.find(name) + len(name)), 0) + 1
        span = Span(number, start, number, start + len(row[column].strip()))
        first = found[0]
        yield self.finding(
            document.path,
            span,
            f"the default of {name} is {shown(first.value)}, not {shown(value)}",
            related=(Related(first.path, first.span, "the default"),),
        )


def _defaults(name: str, document: Document, context: Context) -> Iterator[_Default]:
    """Yield the defaults that the sources have; none where one of them cannot be told."""
    if _VARIABLE.fullmatch(name):
        yield from _of_variable(name, document, context)
    elif _FLAG.fullmatch(name):
        yield from _of_flag(name, context)
    elif _KEY.fullmatch(name):
        keys = Keys(context)
        section, _, last = name.rpartition(".")
        if section.partition(".")[0] in keys.sections:
            yield from (
                _Default(value, path, Span()) for path, value in keys.values(section.rpartition(".")[2], last)
            )


def _of_variable(name: str, document: Document, context: Context) -> Iterator[_Default]:
    found: list[_Default] = []
    for script in _scripts(document, context):
        for item in script.assignments:
            if item.via == name and item.default is not None:
                value = literal(item.default)
                if value is UNKNOWN:
                    return
                found.append(_Default(value, script.path, item.span))
    yield from found


def _scripts(document: Document, context: Context) -> Iterator[Script]:
    """Yield the scripts that a document names, those of its folder where it names none."""
    project = context.project
    shells = [path for path in project.all_files if path.endswith(SHELL_SUFFIXES)]
    named = [path for path in shells if path.rpartition("/")[2] in document.text]
    here = [path for path in named if path.rpartition("/")[0] == document.folder]
    beside = [path for path in shells if path.rpartition("/")[0] == document.folder]
    for path in here or named or beside:
        try:
            (script,) = context.load(Subject.SCRIPT, path)
        except Uninspectable:
            continue
        yield cast("Script", script)


def _of_flag(name: str, context: Context) -> Iterator[_Default]:
    """Yield the defaults of a flag in each parser, and in each dataclass with a field of its name."""
    places: dict[str, set[str]] = context.once("docs flag files", lambda: _places(context.project))
    paths = places.get(name, set()) | places.get(name[2:].replace("-", "_"), set())
    found = [item for path in sorted(paths) for item in _in_source(context.project.read(path), name, path)]
    if not any(item.value is UNKNOWN for item in found):
        yield from found


def _places(project: Project) -> dict[str, set[str]]:
    """Return the files in which each flag is quoted, and each field is declared; tests define flags of their own."""
    found: dict[str, set[str]] = {}
    for path in project.files:
        if path.endswith(".py") and not path.startswith("tests/"):
            data = project.read(path)
            names = [*_QUOTED.findall(data), *(FIELD.findall(data) if b"dataclass" in data else ())]
            for name in set(names):
                found.setdefault(name.decode(), set()).add(path)
    return found


def _in_source(data: bytes, flag: str, path: str) -> Iterator[_Default]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    field = flag[2:].replace("-", "_")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _defines(node, flag):
            yield _Default(_argument_default(node), path, Span(node.lineno, 1, node.lineno, 1))
        elif (
            isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == field
        ):
            yield _Default(_value(node.value), path, Span(node.lineno, 1, node.lineno, 1))


def _defines(call: ast.Call, flag: str) -> bool:
    function = call.func
    named = isinstance(function, ast.Attribute) and function.attr == "add_argument"
    return named and any(isinstance(item, ast.Constant) and item.value == flag for item in call.args)


def _argument_default(call: ast.Call) -> Literal:
    given = {item.arg: item.value for item in call.keywords if item.arg}
    if "default" in given:
        return _value(given["default"])
    action = given.get("action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        return action.value == "store_false"
    return UNKNOWN if "action" in given or any(item.arg is None for item in call.keywords) else None


def _value(node: ast.expr | None) -> Literal:
    if node is None:
        return UNKNOWN
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return UNKNOWN
    return value if value is None or isinstance(value, (bool, int, float, str)) else UNKNOWN
