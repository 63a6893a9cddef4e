"""What became of keys that a configuration had once: read from the history of its files, nothing composed.

Old files are not composed. That a key of ``actor/actor.yaml`` is one of ``actor_rollout_ref.actor`` is known from the
composition of today, and a file in the folder of the main configurations holds whole keys.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import msgspec
import yaml
from msgspec import field

from example_sanity.core.regex import regex
from example_sanity.schema.hydra import shipped
from example_sanity.schema.hydra.yamlfiles import YamlFile
from example_sanity.schema.renames import Removed, fate, successor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from example_sanity.schema.hydra.shipped import Schema
    from example_sanity.schema.objects import Change, Repository

_WORD = regex(rb"\w+")


NODE = object()  # the value of a key that holds further keys


class _Event(msgspec.Struct, frozen=True, eq=False):
    """One commit: the whole keys that it took away and those that it brought, with their values."""

    commit: str
    date: str
    gone: dict[str, object]
    fresh: dict[str, object]


class _Files(msgspec.Struct):
    """The YAML files of a history: the keys in each, and under which keys the file stands in the configuration."""

    contents: Mapping[str, bytes]
    main: frozenset[str]
    prefixes: dict[str, set[str]] = field(default_factory=dict)
    parsed: dict[str, dict[str, object]] = field(default_factory=dict)

    def keys(self, blob: str, path: str) -> dict[str, object]:
        """Return the whole keys of a file as it was, with their values."""
        if blob not in self.parsed:
            self.parsed[blob] = dict(_flat(self.contents.get(blob, b"")))
        prefixes = (
            {""} if posixpath.dirname(path) in self.main else self.prefixes.get(path) or self._near(path)
        )
        return {f"{prefix}{key}": value for prefix in prefixes for key, value in self.parsed[blob].items()}

    def _near(self, path: str) -> set[str]:
        """A file that is gone stood where those beside it stand."""
        folder = posixpath.dirname(path)
        found: set[str] = set()
        for other, prefixes in self.prefixes.items():
            if posixpath.dirname(other) == folder:
                found |= prefixes
        return found


def removed(schema: Schema, repository: Repository) -> dict[str, Removed]:
    """Return what became of the keys that earlier commits had and the schema has not.

    A key without a successor whose last name some Python file still holds may have an effect; it is left out.
    """
    commit = schema.source.commit
    grown = [shipped.grown(schema, name) for name in schema.forests]
    present = {key for forest in grown for key in shipped.members(forest)}
    folders = sorted(
        {folder.removeprefix("pkg://").replace(".", "/") for folder, _ in schema.entries.values()}
    )
    changes = repository.changes(commit, folders, ".yaml")
    blobs = (name for _, _, items in changes for item in items for name in (item.before, item.after) if name)
    now = repository.files(commit, (".yaml",), *folders)
    files = _Files(dict(repository.blobs([*blobs, *now.values()])), frozenset(folders))
    _learn_prefixes(files, grown, now)
    return _settled(_events(changes, files), present, repository, schema)


def _learn_prefixes(files: _Files, grown: Iterable[shipped.Forest], now: Mapping[str, str]) -> None:
    rows: dict[str, dict[int, set[str]]] = {}
    for forest in grown:
        for composition in (forest.base, *(delta.put for delta in forest.choices.values())):
            for key, leaf in composition.keys.items():
                path, _, line = leaf.where.rpartition(":")
                if path:
                    rows.setdefault(path, {}).setdefault(int(line), set()).add(key)
    for path, blob in now.items():
        here = rows.get(path, {})
        for name, number in _lines(files.contents.get(blob, b"")).items():
            for key in here.get(number, ()):
                if key == name or key.endswith(f".{name}"):
                    files.prefixes.setdefault(path, set()).add(key.removesuffix(name))


def _events(changes: Iterable[tuple[str, str, list[Change]]], files: _Files) -> list[_Event]:
    """Return the commits, oldest first; ``changes`` come newest first, so that a name is known before it was changed."""
    found = []
    for commit, date, items in changes:
        gone: dict[str, object] = {}
        fresh: dict[str, object] = {}
        for item in items:
            if item.old != item.path and item.path in files.prefixes:
                files.prefixes.setdefault(item.old, set()).update(files.prefixes[item.path])
            gone.update(files.keys(item.before, item.old) if item.before else {})
            fresh.update(files.keys(item.after, item.path) if item.after else {})
        both = gone.keys() & fresh.keys()
        found.append(
            _Event(
                commit,
                date,
                {key: value for key, value in gone.items() if key not in both},
                {key: value for key, value in fresh.items() if key not in both},
            )
        )
    return found[::-1]


def _settled(
    events: Iterable[_Event], present: set[str], repository: Repository, schema: Schema
) -> dict[str, Removed]:
    last: dict[str, _Event] = {}
    names: dict[str, str | None] = {}
    for event in events:
        for key, value in event.gone.items():
            last[key] = event
            names[key] = successor(key, value, event.fresh)
    read = _words(repository, schema)
    releases = {event.commit: repository.release(event.commit) for event in {*last.values()}}
    found = {}
    for key in sorted(last.keys() - present):
        name = _followed(key, names, present)
        if _is_telling(key, last[key]) and (name is not None or key.rpartition(".")[2] not in read):
            event = last[key]
            found[key] = Removed(name, event.commit[:9], releases[event.commit], event.date)
    return {key: item for key, item in found.items() if fate(key, found, own=False) != item}


def _is_telling(key: str, event: _Event) -> bool:
    """Whether a key means one thing: a plain name at the top may be anything."""
    name = key.rpartition(".")[2]
    return not key.startswith("@") and name != "_target_" and ("." in key or event.gone[key] is NODE)


def _followed(key: str, names: Mapping[str, str | None], present: set[str]) -> str | None:
    """Return the key of today that a key became, over several steps."""
    seen = {key}
    name = names[key]
    while name is not None and name not in present:
        if name in seen:
            return None
        seen.add(name)
        name = names.get(name)
    return name


def _words(repository: Repository, schema: Schema) -> set[str]:
    """Return every word of the Python files: what is not among them is read by nothing."""
    tops = sorted({module.partition(".")[0] for module in schema.modules})
    files = repository.files(schema.source.commit, (".py",), *tops)
    return {word.decode() for _, data in repository.blobs(files.values()) for word in _WORD.findall(data)}


def _lines(data: bytes) -> dict[str, int]:
    found = _read(data)
    return found.lines if found else {}


def _flat(data: bytes) -> Iterator[tuple[str, object]]:
    found = _read(data)
    if found is not None and isinstance(found.data, dict):
        yield from _leaves(found.data, "")


def _leaves(node: dict[object, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if key == "defaults" and not prefix:
            continue
        name = f"{prefix}{key}"
        yield name, NODE if isinstance(value, dict) else value
        if isinstance(value, dict):
            yield from _leaves(value, f"{name}.")


def _read(data: bytes) -> YamlFile | None:
    try:
        return YamlFile(data.decode())
    except (ValueError, yaml.YAMLError):
        return None
