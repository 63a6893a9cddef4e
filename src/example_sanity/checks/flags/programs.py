"""From an entry of a launch to the program that it starts, and to the flags that this program takes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from example_sanity.checks.flags.options import FlagsOptions
from example_sanity.checks.importing import own_folders, source_roots
from example_sanity.launch import pythonpath
from example_sanity.launch.options import is_option

if TYPE_CHECKING:
    from pathlib import Path

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry, Launch, Origin
    from example_sanity.schema.argparse.matching import Reading
    from example_sanity.schema.argparse.table import FlagTable


class Program(msgspec.Struct, frozen=True):
    """An entry whose flags are known: what it was given, how that reads, and where its source is.

    ``then`` is the same with a package at the commit that the repository pins, ``pin`` how messages call that.
    """

    launch: Launch
    entry: Entry
    path: str
    table: FlagTable
    words: tuple[str, ...]
    reading: Reading
    project: Project
    then: Program | None = None
    pin: str = ""

    def origin(self, index: int) -> Origin:
        """Return where a word of the arguments came from."""
        command = self.entry.command
        place = self.entry.arguments[index]
        return command.origins[place] if place < len(command.origins) else command.site

    def stable(self, *indexes: int) -> bool:
        """Whether none of the words depends on a placeholder."""
        return self.entry.command.unstable.isdisjoint(self.entry.arguments[index] for index in indexes)


def programs(launch: Launch, context: Context) -> list[Program]:
    """Return the entries of a launch whose flags are known, worked out once a run."""
    cache: dict[int, tuple[list[Program], frozenset[str]]] = context.cache.setdefault("flags programs", {})
    if id(launch) not in cache:
        inputs: set[str] = set()
        found = [program for entry in launch.entries if (program := _program(launch, entry, context, inputs))]
        cache[id(launch)] = (found, frozenset(inputs))
    found, looked_at = cache[id(launch)]
    if looked_at:
        context.project.all_files  # noqa: B018  # which file an import means depends on which files there are
    for path in sorted(looked_at):
        context.project.watch(f"file:{path}")
    return found


def _program(launch: Launch, entry: Entry, context: Context, inputs: set[str]) -> Program | None:
    words = tuple(entry.command.argv[index] for index in entry.arguments)
    if not any(is_option(word) for word in words) or entry.wrapper:
        return None
    path = find(launch, entry, context)
    if path is None:
        return None
    table = _table(path, entry, context, inputs)
    if table is None:
        return None
    from example_sanity.schema.argparse.matching import read_words

    now = Program(launch, entry, path, table, words, read_words(words, table), context.project)
    return _with_pin(now, context, inputs)


def _with_pin(now: Program, context: Context, inputs: set[str]) -> Program:
    """Return a program with what it is at the pin of a package that it reads from a source root."""
    given = [_shown(folder, context.project.root) for folder in source_roots(context)]
    used = [path for path in inputs if path.startswith(tuple(f"{folder}/" for folder in given))]
    if not used:
        return now
    from example_sanity.checks import pins
    from example_sanity.schema.argparse.matching import read_words

    for pin in pins.pins(now.launch.script, context):
        if any(path.startswith(f"{folder}/{pin.package}/") for folder in given for path in used):
            found = pins.source(pin, context)
            if found is None or found.commit == found.repository.head:
                continue
            table = _table(now.path, now.entry, context, inputs, found.folder)
            if table is not None:
                then = replace(now, table=table, reading=read_words(now.words, table))
                return replace(now, then=then, pin=str(pin))
    return now


def find(launch: Launch, entry: Entry, context: Context) -> str | None:
    """Return the file of the project that an entry starts, None where it is not here or not the only one."""
    files = frozenset(context.project.all_files)
    if entry.module is not None:
        base = entry.module.replace(".", "/")
        inside = [*pythonpath.inside(entry), ""]
        candidates = [f"{folder}/{base}{end}" for folder in inside for end in (".py", "/__main__.py")]
        return next((path for item in candidates if (path := item.lstrip("/")) in files), None)
    if entry.file is None or not entry.file.endswith(".py"):
        return None
    # The project is the root folder of the sandbox.
    for folder in (entry.command.folder, "", posixpath.dirname(launch.script.path)):
        path = posixpath.normpath(posixpath.join("/", folder, entry.file)).lstrip("/")
        if path in files:
            return path
    return None


def _table(
    path: str, entry: Entry, context: Context, inputs: set[str], fixed: Path | None = None
) -> FlagTable | None:
    cache: dict[object, tuple[FlagTable | None, frozenset[str]]] = context.cache.setdefault(
        "flags tables", {}
    )
    key = (path, entry.module, own_folders(entry, context.project), fixed)
    if key not in cache:
        cache[key] = _read(path, entry, context, fixed)
    table, opened = cache[key]
    inputs |= opened
    return table


def _read(
    path: str, entry: Entry, context: Context, fixed: Path | None
) -> tuple[FlagTable | None, frozenset[str]]:
    from example_sanity.schema.argparse.patches import added_flags
    from example_sanity.schema.argparse.reading import read_program

    root = context.project.root
    options = context.options("flags", FlagsOptions)
    file = root / path
    above = [folder for folder in file.parents if folder == root or root in folder.parents]
    first = above[:1] if entry.module is None else []
    own = [*first, *own_folders(entry, context.project), *above, root, root / "src"]
    before = [] if fixed is None else [fixed]
    roots = tuple(dict.fromkeys([*own, *before, *source_roots(context)]))
    table, opened = read_program(file, root, roots, entry.module)
    inputs = {_shown(item, root) for item in opened if fixed is None or not item.is_relative_to(fixed)}
    if table is None:
        return None, frozenset(inputs)
    patches = [item for item in context.project.all_files if item.endswith((".patch", ".diff"))]
    extra = [name for item in patches for name in added_flags(context.project.read(item))]
    owned = tuple(sorted({*table.prefixes, *options.owned_prefixes}))
    patched = msgspec.structs.replace(table, prefixes=owned, patched=tuple(sorted(set(extra))))
    return patched, frozenset({*inputs, *patches})


def _shown(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
