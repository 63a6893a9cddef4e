"""The schemas that come with the tool: derived data of named releases, composed beforehand."""

from __future__ import annotations

import lzma
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from example_sanity.schema.hydra.model import ComposeError, Composition, Delta, changed
from example_sanity.schema.renames import Removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = Path(__file__).resolve().parents[2] / "schemas" / "hydra"
SUFFIX = ".json.xz"
# The heads of all schemas, so that of six only the one that is needed is unpacked.
INDEX = FOLDER / "index.json"


class NotShippedError(ComposeError):
    """A choice that was not composed beforehand: nothing can be said, for or against it."""


class Source(msgspec.Struct, frozen=True):
    """Where a schema is from. ``rank`` orders the schemas of one project: the newest is highest."""

    name: str
    url: str
    commit: str
    licence: str
    rank: int = 0
    further: tuple[str, ...] = ()


class Forest(msgspec.Struct):
    """One configuration: composed as it is, and what each group choice changes in it.

    ``choices`` maps the words of a choice, joined by spaces, to the change; two words stand for the change that the
    second makes after the first.
    """

    base: Composition
    options: dict[str, list[str]]
    choices: dict[str, Delta]


class Head(msgspec.Struct, kw_only=True):
    """What a schema is about: its source, all modules, and the folders of the search path."""

    source: Source
    modules: tuple[str, ...]
    packages: tuple[str, ...]

    def knows(self, module: str) -> bool:
        """Return whether the top package of a module is in the source."""
        top = module.partition(".")[0]
        return any(item == top or item.startswith(f"{top}.") for item in self.modules)


class Schema(Head, kw_only=True):
    """All configurations of a source.

    ``entries`` maps a module to its configuration (``folder`` as ``pkg://…`` and name); ``forests`` those to their
    compositions; ``removed`` are keys of earlier commits with what became of them, ``built`` the nodes that become objects.
    """

    entries: dict[str, tuple[str, str]]
    built: tuple[str, ...]
    removed: dict[str, Removed]
    forests: dict[str, msgspec.Raw]

    def forest(self, module: str, name: str | None) -> str | None:
        """Return the key of the configuration that a module starts with, or of another one in its folder."""
        folder, own = self.entries[module]
        key = f"{folder}/{name or own}"
        return key if key in self.forests else None


def grown(schema: Schema, key: str) -> Forest:
    """Return a configuration; each is read when it is needed."""
    return msgspec.json.decode(schema.forests[key], type=Forest)


def members(forest: Forest) -> set[str]:
    """Return every key that some choice gives, Hydra's own left out."""
    keys = set(forest.base.keys).union(*(delta.put.keys for delta in forest.choices.values()))
    return {key for key in keys if not key.startswith("hydra.") and key != "hydra"}


class ShippedTree:
    """A configuration of a shipped schema."""

    at_hand = False

    def __init__(self, schema: Schema, key: str) -> None:
        """Open configuration ``key``."""
        self._schema = schema
        self._forest = grown(schema, key)
        self.source = schema.source.name
        self.label = f"{key.rpartition('/')[2]} ({self.source})"
        self.inputs: frozenset[str] = frozenset()

    @property
    def options(self) -> dict[str, list[str]]:
        """Every group with its options."""
        return self._forest.options

    @cached_property
    def built(self) -> frozenset[str]:
        """As recorded when the schema was built."""
        return frozenset(self._schema.built)

    @property
    def removed(self) -> dict[str, Removed]:
        """As recorded when the schema was built."""
        return self._schema.removed

    def mentions(self, name: str) -> bool:
        """The source is not at hand."""
        del name
        return True

    def compose(self, choices: Sequence[str]) -> Composition:
        """Return the flat form: each choice changes what those before it left."""
        result = self._forest.base
        done: list[str] = []
        for word in sorted(choices, key=self._later):
            delta = self.change(word, done)
            if delta is not None:
                result = changed(result, delta)
            elif not self._changes_nothing(word, result):
                raise NotShippedError(f"the shipped schema does not know {word}")
            done.append(word)
        return result

    def _later(self, word: str) -> bool:
        """Choices that others follow come first, in whatever order they are written."""
        return not any(pair.startswith(f"{word} ") for pair in self._forest.choices)

    def change(self, word: str, done: Sequence[str]) -> Delta | None:
        """Return what a choice changes after others, None where that is not known or nothing."""
        choices = self._forest.choices
        pairs = (choices.get(f"{before} {word}") for before in reversed(done))
        return next((item for item in pairs if item), None) or choices.get(word)

    def _changes_nothing(self, word: str, result: Composition) -> bool:
        group, _, option = word.partition("=")
        return group.lstrip("+~").startswith("hydra/") or result.groups.get(group) == option


def names() -> list[str]:
    """Return the names of the shipped schemas."""
    return sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))


@lru_cache(maxsize=16)
def load(name: str) -> Schema:
    """Return a shipped schema, or the one in a file. Raises OSError or ValueError."""
    return decode(file_of(name).read_bytes())


def file_of(name: str) -> Path:
    """Return the file of a schema: a path as it is, a name among those shipped."""
    return Path(name) if name.endswith(SUFFIX) else FOLDER / f"{name}{SUFFIX}"


def decode(data: bytes) -> Schema:
    """Return the schema that ``encode`` wrote. Raises ValueError for anything else."""
    try:
        return msgspec.json.decode(lzma.decompress(data), type=Schema)
    except (lzma.LZMAError, EOFError, msgspec.DecodeError) as error:
        raise ValueError(f"no schema of this version: {error}") from error


def encode(schema: Schema) -> bytes:
    """Return a schema as a file: JSON, compressed, the same bytes for the same content."""
    return lzma.compress(msgspec.json.encode(schema, order="deterministic"), preset=9)


def choose(module: str, needed: Iterable[str], wanted: str | None = None) -> Schema | None:
    """Return the schema for a module: the one ``wanted``, else the newest whose source has it and ``needed`` packages.

    Of those the one with the fewest further packages wins.
    """
    heads: Mapping[str, Head] = {wanted: load(wanted)} if wanted else index()
    fitting = {
        name: item
        for name, item in heads.items()
        if item.knows(module) and all(item.knows(package) for package in needed)
    }
    # A release that has the module is a better judge than one from before or after its time.
    having = {name: item for name, item in fitting.items() if module in item.modules} or fitting
    best = max(having, key=lambda name: _preference(having[name]), default=None)
    return None if best is None else load(best)


def _preference(head: Head) -> tuple[int, int, str]:
    return -len(head.packages), head.source.rank, head.source.name


@lru_cache(maxsize=1)
def index() -> Mapping[str, Head]:
    """Return the heads of the shipped schemas by name. Raises OSError or ValueError."""
    return msgspec.json.decode(INDEX.read_bytes(), type=dict[str, Head])


def indexed() -> bytes:
    """Return the index anew, from the schemas that are there."""
    heads = {
        name: Head(source=found.source, modules=found.modules, packages=found.packages)
        for name in names()
        for found in [decode(file_of(name).read_bytes())]
    }
    return msgspec.json.encode(heads, order="deterministic") + b"\n"
