"""Keeps what rules said of files from one run to the next, for as long as everything that they looked at stays the same."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import example_sanity
from example_sanity.core.errors import Uninspectable
from example_sanity.core.files import write_atomically
from example_sanity.core.finding import Finding, Span
from example_sanity.core.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FOLDER = ".example-sanity-cache"
_FORMAT = 1
_MOST_FILES = 8


class Record(msgspec.Struct, frozen=True, array_like=True):
    """An outcome as it is stored: ``inputs`` is an index into the sets of the file, ``error`` code, message and span."""

    inputs: int
    findings: tuple[Finding, ...]
    problems: tuple[Finding, ...] = ()
    error: tuple[str, str, Span] | None = None


class _Stored(msgspec.Struct, array_like=True):
    """The file: what it is for, the digest of each input, sets of inputs, and for each path its records by code."""

    format: int
    key: str
    digests: dict[str, str]
    sets: list[tuple[str, ...]]
    records: dict[str, msgspec.Raw]


_Records = dict[str, Record]


class Cache:
    """The outcomes of one configuration of one version of the tool. A file that cannot be used counts as empty."""

    def __init__(self, folder: Path, key: str, digest: Callable[[str], str]) -> None:
        """Open the cache; ``digest`` tells the present digest of an input."""
        self.folder = folder
        self._file = folder / f"{key[:16]}.msgpack"
        self._key = key
        self._digest = digest
        self._read_at = self._stamp()
        self._stored = self._read()
        self._fresh_sets: dict[int, bool] = {}
        self._unpacked: dict[str, _Records] = {}
        self._empty_outcomes: dict[int, Outcome] = {}
        self._new: dict[str, dict[str, Outcome]] = {}
        self._text: dict[frozenset[str], bool] = {}

    def get(self, path: str, code: str) -> Outcome | None:
        """Return what a rule said of a file, or None where nothing is known that still holds."""
        record = self._records(path).get(code)
        if record is None or not self._is_fresh(record.inputs):
            return None
        if not (record.findings or record.problems or record.error):
            return self._nothing(record.inputs)
        error = Uninspectable(*record.error) if record.error else None
        return Outcome(list(record.findings), record.problems, error, self._nothing(record.inputs).inputs)

    def _nothing(self, number: int) -> Outcome:
        """The outcome without findings of a set of inputs: most are, and share it."""
        if number not in self._empty_outcomes:
            self._empty_outcomes[number] = Outcome((), (), None, frozenset(self._stored.sets[number]))
        return self._empty_outcomes[number]

    def put(self, path: str, code: str, outcome: Outcome) -> None:
        """Remember an outcome for ``save``; one of a file whose name is no text is worked out each time."""
        if not path.isprintable() or not self._are_text(outcome.inputs) or not _is_text(outcome):
            return
        self._new.setdefault(path, {})[code] = outcome

    def _are_text(self, names: frozenset[str]) -> bool:
        # The rules of a family mostly look at the same files, and at hundreds of them.
        if names not in self._text:
            self._text[names] = all(name.isprintable() for name in names)
        return self._text[names]

    def save(self) -> None:
        """Write the file if there is something new: whole, so that runs beside this one never see half of it.

        What was read and does not hold any more is dropped. A folder that cannot be written costs the cache only.
        """
        if not self._new:
            return
        if self._stamp() != self._read_at:
            self._take_over()
        stored = self._merged()
        try:
            prepare(self._file.parent)
            write_atomically(self._file, msgspec.msgpack.encode(stored))
            prune(self._file.parent, ".msgpack", _MOST_FILES)
        except OSError:
            return
        self._new = {}

    def _stamp(self) -> tuple[int, int] | None:
        try:
            about = self._file.stat()
        except OSError:
            return None
        return about.st_mtime_ns, about.st_ino

    def _take_over(self) -> None:
        """Go on from what another run has saved meanwhile; what this one saw to be stale is compared again."""
        known = range(len(self._stored.sets))
        stale = {self._stored.sets[n] for n, fresh in self._fresh_sets.items() if n in known and not fresh}
        self._stored = self._read()
        self._unpacked, self._fresh_sets, self._empty_outcomes = {}, {}, {}
        for number, names in enumerate(self._stored.sets):
            if names in stale:
                self._is_fresh(number)

    def _read(self) -> _Stored:
        try:
            stored = msgspec.msgpack.decode(self._file.read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError):
            return self._empty()
        return stored if (stored.format, stored.key) == (_FORMAT, self._key) else self._empty()

    def _empty(self) -> _Stored:
        return _Stored(_FORMAT, self._key, {}, [], {})

    def _records(self, path: str) -> _Records:
        if path not in self._unpacked:
            raw = self._stored.records.get(path)
            try:
                self._unpacked[path] = msgspec.msgpack.decode(raw, type=_Records) if raw is not None else {}
            except msgspec.DecodeError:
                self._unpacked[path] = {}
        return self._unpacked[path]

    def _is_fresh(self, number: int) -> bool:
        if number not in self._fresh_sets:
            digests = self._stored.digests
            self._fresh_sets[number] = 0 <= number < len(self._stored.sets) and all(
                name in digests and digests[name] == self._digest(name) for name in self._stored.sets[number]
            )
        return self._fresh_sets[number]

    def _new_sets(self) -> set[frozenset[str]]:
        return {item.inputs for codes in self._new.values() for item in codes.values()}

    def _merged(self) -> _Stored:
        """The file with the new outcomes; inputs are looked at again where they were looked at in this run."""
        new_inputs = {name for names in self._new_sets() for name in names}
        digests = {**self._stored.digests, **{name: self._digest(name) for name in sorted(new_inputs)}}
        changed = {name for name, digest in self._stored.digests.items() if digests[name] != digest}
        result = _Stored(_FORMAT, self._key, {}, [], {})
        numbers: dict[frozenset[str], int] = {}

        def number_of(inputs: Iterable[str]) -> int:
            names = frozenset(inputs)
            if names not in numbers:
                numbers[names] = len(result.sets)
                result.sets.append(tuple(sorted(names)))
            return numbers[names]

        for path in sorted({*self._stored.records, *self._new}):
            records = {
                code: msgspec.structs.replace(record, inputs=number_of(self._stored.sets[record.inputs]))
                for code, record in self._records(path).items()
                if 0 <= record.inputs < len(self._stored.sets)
                and changed.isdisjoint(self._stored.sets[record.inputs])
                and self._fresh_sets.get(record.inputs, True)
            }
            for code, outcome in self._new.get(path, {}).items():
                records[code] = _record(outcome, number_of(outcome.inputs))
            if records:
                result.records[path] = msgspec.Raw(msgspec.msgpack.encode(records))
        used = {name for names in result.sets for name in names}
        result.digests = {name: digest for name, digest in sorted(digests.items()) if name in used}
        return result


def _is_text(outcome: Outcome) -> bool:
    """Whether no string holds a lone surrogate, which stands for a byte that is not UTF-8."""
    try:
        msgspec.msgpack.encode(_record(outcome, 0))
    except UnicodeEncodeError:
        return False
    return True


def _record(outcome: Outcome, inputs: int) -> Record:
    error = outcome.error
    stored = (error.code, error.message, error.span) if error else None
    return Record(inputs, tuple(outcome.value or ()), outcome.problems, stored)


def prepare(folder: Path) -> None:
    """Make the folder, with a file in it that keeps git from looking. Raises OSError."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", "utf-8")


def prune(folder: Path, suffix: str, most: int) -> None:
    """Keep the files that were written last; each configuration and version has one of its own."""
    files = sorted(folder.glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[most:]:
        path.unlink(missing_ok=True)


def folder_of(root: Path) -> Path:
    """Return where the caches of a project stand: below its root, or among the user's where that cannot be written."""
    own = root / FOLDER
    if os.access(own if own.is_dir() else root, os.W_OK):
        return own
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "example-sanity" / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def key_of(*parts: object) -> str:
    """Return a key of the tool with all that is installed beside it, and of ``parts`` (plain data and structs)."""
    text = hashlib.sha256(msgspec.json.encode(parts, order="deterministic"))
    text.update(f"{_FORMAT} {example_sanity.__version__} {sys.version}".encode())
    for line in [*_sources(Path(example_sanity.__file__).parent), *_distributions()]:
        text.update(line.encode("utf-8", "surrogateescape"))
    return text.hexdigest()


def sources_of(plugins: Iterable[object]) -> list[str]:
    """Return the files of plugins by size and time: one under development changes without a new version."""
    names = {str(getattr(item, "__module__", None) or getattr(item, "__name__", "")) for item in plugins}
    modules = [sys.modules[name] for name in sorted(names) if name in sys.modules]
    packages = {(module.__name__.partition(".")[0], module) for module in modules}
    lines: list[str] = []
    for name, module in sorted(packages, key=lambda pair: pair[0]):
        top = sys.modules.get(name, module)
        for folder in getattr(top, "__path__", ()):
            lines += _sources(folder)
        if module.__file__:
            about = Path(module.__file__).stat()
            lines.append(f"{module.__file__} {about.st_size} {about.st_mtime_ns}\n")
    return lines


def _sources(folder: str | Path) -> Iterator[str]:
    """Our own files by size and time, so that who works on a rule never sees what it said before."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                about = entry.stat()
                yield f"{entry.path} {about.st_size} {about.st_mtime_ns}\n"


def _distributions() -> Iterator[str]:
    """What is installed, with its version: plugins, and the libraries that read and evaluate."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208  # speed
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith((".dist-info", ".egg-info")):
                about = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118  # speed
                yield f"{name} {about.st_mtime_ns}\n"
