"""DOC003: configuration keys in documents that no configuration has."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.checks.docs.base import DocumentRule, matches, options
from example_sanity.checks.docs.literals import UNKNOWN, Literal, Unknown, literal
from example_sanity.checks.docs.mentions import SUFFIXES
from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.finding import Edit, Fix, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project

_KEY = regex(r"(?<![\w.$/@\"'{-])(\+{0,2})~?([a-z_]\w*(?:\.[a-zA-Z_]\w*)+)(=?)(?![\w(/@\[-]|\.\w|:\w)")
PAST = regex(
    r"\b(?:removed?|deprecat\w*|no longer|legacy|renam\w+|replac\w+|instead of|formerly|obsolete|old|was|previously|unsupported)\b"
    r"|→|->|=>|废弃|移除|删除|弃用",
    re.IGNORECASE,
)
FIELD = regex(rb"^[ \t]+([A-Za-z_]\w*)[ \t]*:[ \t]*[A-Za-z\"'\[]", re.MULTILINE)
_VALUE = regex(rb"^[ \t]+([A-Za-z_]\w*)[ \t]*:[^=\n#]+=[ \t]*([^#\n]+?)[ \t]*(?:#.*)?$", re.MULTILINE)
_FILES = {"app/config/train.yaml": "defaults:\n  - _self_\n\ntrainer:\n  nnodes: 1\n  steps: 10\n"}


class DocUnknownKey(DocumentRule):
    """A document speaks of a configuration key that no configuration of the repository has.

    Looked at are keys in inline code, tables and lists of overrides (whole commands are DOC002). A key counts as one of
    the configuration when its first part is a section of a Hydra configuration; it is unknown when its last part stands
    in no YAML file and in no dataclass. Without an ``=`` behind it, it is reported only where a key of the same section
    looks much like it, since attributes of objects are written the same way. Lines that say what was removed or renamed
    are passed over.
    """

    code = "DOC003"
    name = "doc-unknown-key"
    summary = "a document names a configuration key that does not exist"
    bad = (Example("Set `trainer.nnode` to the number of nodes.\n", "README.md", _FILES),)
    good = (
        Example("Set `trainer.nnodes`; call `trainer.fit`.\n", "README.md", _FILES),
        Example("`trainer.nnode` was renamed.\n", "README.md", _FILES),
    )

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        candidates = list(_candidates(document))
        if not candidates:
            return
        keys = Keys(context)
        foreign = options(context).foreign
        for key, assigned, span in candidates:
            best = keys.judge(key, assigned)
            if best is None or matches(key, foreign):
                continue
            section, _, name = key.rpartition(".")
            better = f"{section}.{best}" if best else ""
            hint = f"; the nearest is {better}" if better else ""
            fix = Fix(f"write {better}", (Edit(document.path, span, better),), safe=False) if better else None
            yield self.finding(
                document.path, span, f"no configuration has a key {name}: {key}{hint}", fix=fix
            )


def _candidates(document: Document) -> Iterator[tuple[str, bool, Span]]:
    """Yield what may be a key, whether a value is given, and where it stands."""
    for piece in document.codes:
        if piece.span.line == piece.span.end_line and not PAST.search(piece.line):
            yield from _keys(piece.text, piece.span.line, piece.span.column)
    for block in document.blocks:
        if not block.is_shell:
            continue
        for command in block.quoted.commands:
            # A list of overrides without a program in front.
            for word in command.words if command.name and _KEY.match(command.name) else ():
                if word.fixed and not PAST.search(document.lines[word.span.line - 1]):
                    yield from _keys(word.text, word.span.line, word.span.column)


def _keys(text: str, line: int, column: int) -> Iterator[tuple[str, bool, Span]]:
    for found in _KEY.finditer(text):
        key = found[2]
        # With a plus a key is added: it need not be there.
        if not found[1] and key.rpartition(".")[2].lower() not in SUFFIXES:
            start = column + found.start(2)
            yield key, bool(found[3]), Span(line, start, line, start + len(key))


class _Fields:
    """The fields of dataclasses in some packages: their names, and their defaults, each with the file."""

    def __init__(self, project: Project, packages: Collection[str]) -> None:
        self.names: set[str] = set()
        self.values: dict[str, list[tuple[str, Literal]]] = defaultdict(list)
        for path in project.files if packages else ():
            if path.endswith(".py") and path.partition("/")[0] in packages:
                self._read(path, project.read(path))

    def _read(self, path: str, data: bytes) -> None:
        if b"dataclass" in data or b"Config" in data:
            self.names.update(name.decode() for name in FIELD.findall(data))
            for found in _VALUE.finditer(data):
                value = literal(found[2].decode("utf-8", "replace"))
                self.values[found[1].decode()].append((path, value))


class _Names(msgspec.Struct):
    """The names of keys in YAML files: all of them, the sections of a configuration, and which stand in which section.

    ``packages`` are the top folders of configurations that Hydra starts from.
    """

    sections: set[str] = set()
    names: set[str] = set()
    inside: dict[str, set[str]] = {}
    packages: set[str] = set()

    def read(self, path: str, data: Mapping[Any, Any]) -> None:
        """Take up a file."""
        self._collect(data, _section(path))
        defaults = data.get("defaults")
        if not isinstance(defaults, list):
            return
        places = [str(key).partition("@")[2] for item in defaults if isinstance(item, dict) for key in item]
        if "_self_" in defaults or places:
            self.sections.update(str(key) for key, value in data.items() if isinstance(value, dict))
            self.sections.update(place.partition(".")[0] for place in places if place)
        self.packages.add(path.rpartition("/")[0].partition("/")[0])

    def _collect(self, data: Mapping[Any, Any], section: str) -> None:
        for key, value in data.items():
            self.names.add(str(key))
            self.inside.setdefault(section, set()).add(str(key))
            if isinstance(value, dict):
                self._collect(value, str(key))


def _section(path: str) -> str:
    return path.rpartition("/")[0].rpartition("/")[2]


def _documents(context: Context) -> Mapping[str, Mapping[Any, Any]]:
    """What the YAML files of the project hold, those of continuous integration and its like left out."""
    found: Mapping[str, Mapping[Any, Any]] = context.once("docs yaml", lambda: dict(_read(context.project)))
    return found


def _read(project: Project) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    import yaml

    from example_sanity.core import yamltext

    for path in project.files:
        if not path.endswith((".yaml", ".yml")) or "/." in f"/{path}":
            continue
        try:
            data = yamltext.load(project.text(path))
        except (yaml.YAMLError, Uninspectable, ValueError):
            continue
        if isinstance(data, dict):
            yield path, data


def _names(context: Context) -> _Names:
    found = _Names()
    for path, data in _documents(context).items():
        found.read(path, data)
    return found


def _values(context: Context) -> Mapping[tuple[str, str], list[tuple[str, Literal]]]:
    """The values in YAML files by section and key, each with its file."""
    found: dict[tuple[str, str], list[tuple[str, Literal]]] = defaultdict(list)

    def collect(data: Mapping[Any, Any], section: str, path: str) -> None:
        for key, value in data.items():
            if isinstance(value, dict):
                collect(value, str(key), path)
            else:
                found[section, str(key)].append((path, _plain(value)))

    for path, data in _documents(context).items():
        collect(data, _section(path), path)
    return found


class Keys:
    """The configuration keys of a project. The names are kept between runs; the rest is read where it is asked for."""

    def __init__(self, context: Context) -> None:
        """Learn the names in YAML files."""
        self._context = context
        self._known = context.kept("the names of keys", _Names, lambda: _names(context))

    @property
    def sections(self) -> set[str]:
        """The sections of the configurations."""
        return self._known.sections

    @property
    def _fields(self) -> _Fields:
        project, packages = self._context.project, self._known.packages if self.sections else set()
        found: _Fields = self._context.once("docs fields", lambda: _Fields(project, packages))
        return found

    def values(self, section: str, name: str) -> list[tuple[str, Literal]]:
        """Return the defaults that a key of a section has: in YAML files, each with the file, then in dataclasses.

        Empty where no YAML file has the key, or where one of the values cannot be told.
        """
        known = self._context.once("docs values", lambda: _values(self._context))
        found = known.get((section, name), [])
        found = [*found, *self._fields.values.get(name, [])] if found else []
        return [] if any(isinstance(value, Unknown) for _, value in found) else found

    def judge(self, key: str, assigned: bool) -> str | None:
        """Return None for a key that is known or is none, else the name that was probably meant, empty where none is."""
        parts = key.split(".")
        if parts[0] not in self.sections or parts[0] in ("hydra", "defaults"):
            return None
        inside = self._known.inside
        if parts[-1] in self._known.names or parts[-1] in self._fields.names:
            return None
        siblings = inside.get(parts[-2], set())
        best = nearest(parts[-1], siblings, 80)
        if best is not None:
            return best
        chain = all(child in inside.get(parent, ()) for parent, child in itertools.pairwise(parts))
        return "" if assigned and siblings and chain and len(parts) > 2 else None


def _plain(value: object) -> Literal:
    """Return a value of YAML; an interpolation, a list and a mandatory value are not known."""
    if isinstance(value, str):
        return UNKNOWN if "${" in value or value == "???" else value
    return value if value is None or isinstance(value, (bool, int, float)) else UNKNOWN
