"""DOC003: configuration keys in documents that no configuration has."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

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
        keys: Keys = context.once("docs keys", lambda: Keys(context.project))
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


class Keys:
    """The names of configuration keys: all of them, the sections, and which names stand in which section."""

    def __init__(self, project: Project) -> None:
        """Read the YAML files and the fields of dataclasses."""
        self.sections: set[str] = set()
        self.names: set[str] = set()
        self.inside: dict[str, set[str]] = defaultdict(set)
        self._values: dict[tuple[str, str], list[tuple[str, Literal]]] = defaultdict(list)
        self._in_classes: dict[str, list[tuple[str, Literal]]] = defaultdict(list)
        configurations = [
            path for path in project.files if path.endswith((".yaml", ".yml")) and "/." not in f"/{path}"
        ]
        primary = {path.rpartition("/")[0] for path in configurations if self._read(project, path)}
        if self.sections:
            packages = {folder.partition("/")[0] for folder in primary}
            for path in project.files:
                if path.endswith(".py") and path.partition("/")[0] in packages:
                    self._fields(project, path)

    def _read(self, project: Project, path: str) -> bool:
        """Take up a file; return whether it is a configuration that Hydra starts from."""
        import yaml

        from example_sanity.core import yamltext

        try:
            data = yamltext.load(project.text(path))
        except (yaml.YAMLError, Uninspectable, ValueError):
            return False
        if not isinstance(data, dict):
            return False
        self._collect(data, path.rpartition("/")[0].rpartition("/")[2], path)
        defaults = data.get("defaults")
        if not isinstance(defaults, list):
            return False
        places = [str(key).partition("@")[2] for item in defaults if isinstance(item, dict) for key in item]
        if "_self_" in defaults or places:
            self.sections.update(str(key) for key, value in data.items() if isinstance(value, dict))
            self.sections.update(place.partition(".")[0] for place in places if place)
        return True

    def _collect(self, data: Mapping[Any, Any], section: str, path: str) -> None:
        for key, value in data.items():
            self.names.add(str(key))
            self.inside[section].add(str(key))
            if isinstance(value, dict):
                self._collect(value, str(key), path)
            else:
                self._values[section, str(key)].append((path, _plain(value)))

    def values(self, section: str, name: str) -> list[tuple[str, Literal]]:
        """Return the defaults that a key of a section has: in YAML files, each with the file, then in dataclasses.

        Empty where no YAML file has the key, or where one of the values cannot be told.
        """
        found = self._values.get((section, name), [])
        found = [*found, *self._in_classes.get(name, [])] if found else []
        return [] if any(isinstance(value, Unknown) for _, value in found) else found

    def _fields(self, project: Project, path: str) -> None:
        data = project.read(path)
        if b"dataclass" in data or b"Config" in data:
            self.names.update(name.decode() for name in FIELD.findall(data))
            for found in _VALUE.finditer(data):
                value = literal(found[2].decode("utf-8", "replace"))
                self._in_classes[found[1].decode()].append((path, value))

    def judge(self, key: str, assigned: bool) -> str | None:
        """Return None for a key that is known or is none, else the name that was probably meant, empty where none is."""
        parts = key.split(".")
        if parts[0] not in self.sections or parts[0] in ("hydra", "defaults") or parts[-1] in self.names:
            return None
        siblings = self.inside.get(parts[-2], set())
        best = nearest(parts[-1], siblings, 80)
        if best is not None:
            return best
        chain = all(child in self.inside.get(parent, ()) for parent, child in itertools.pairwise(parts))
        return "" if assigned and siblings and chain and len(parts) > 2 else None


def _plain(value: object) -> Literal:
    """Return a value of YAML; an interpolation, a list and a mandatory value are not known."""
    if isinstance(value, str):
        return UNKNOWN if "${" in value or value == "???" else value
    return value if value is None or isinstance(value, (bool, int, float)) else UNKNOWN
