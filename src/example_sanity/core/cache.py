"""Keeps what rules said of files from one run to the next, for as long as everything that they looked at stays the same."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import example_sanity
from example_sanity.core.errors import Said, Uninspectable
from example_sanity.core.files import write_atomically
from example_sanity.core.finding import Finding
from example_sanity.core.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FOLDER = ".example-sanity-cache"
_FORMAT = 4
_MOST_FILES = 8
_SUM = 16  # bytes of the checksum before the rest
_MOST_WASTE = 2  # times as many sets of inputs as are needed


class Record(msgspec.Struct, frozen=True, array_like=True):
    """An outcome as it is stored: ``inputs`` is an index into the sets of the file, ``error`` what could not be inspected."""

    inputs: int
    findings: tuple[Finding, ...]
    problems: tuple[Finding, ...] = ()
    error: Said | None = None


class _Stored(msgspec.Struct, array_like=True):
    """The file: what it is for, inputs by name and digest, sets of inputs, for each path its records by code, and values.

    A set holds indices into the inputs. Sets, records and values stay encoded until one is asked for, so that a run over
    one file pays for one file. ``packed`` is how many sets there were when all were needed.
    """

    format: int
    key: str
    packed: int
    inputs: list[tuple[str, str]]
    sets: list[msgspec.Raw]
    records: dict[str, msgspec.Raw]
    values: dict[str, tuple[int, msgspec.Raw]]


_Records = dict[str, Record]
_Set = tuple[int, ...]
Value = tuple[frozenset[str], msgspec.Raw]  # the inputs that it depends on, and what it is


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
        self._fresh_sets: dict[int, frozenset[str] | None] = {}
        self._fresh_inputs: dict[int, bool] = {}
        self._unpacked: dict[str, _Records] = {}
        self._empty_outcomes: dict[int, Outcome] = {}
        self._new: dict[str, dict[str, Outcome]] = {}
        self.new_values: dict[str, Value] = {}  # what ``save`` adds, those of other processes among them
        self._text: dict[frozenset[str], bool] = {}

    def get(self, path: str, code: str) -> Outcome | None:
        """Return what a rule said of a file, or None where nothing is known that still holds."""
        record = self._records(path).get(code)
        names = self._fresh(record.inputs, f"file:{path}") if record else None
        if record is None or names is None:
            return None
        if not (record.findings or record.problems or record.error):
            return self._nothing(record.inputs, names)
        error = Uninspectable(*record.error) if record.error else None
        return Outcome(list(record.findings), record.problems, error, names)

    def _nothing(self, number: int, names: frozenset[str]) -> Outcome:
        """The outcome without findings of a set of inputs: most are, and share it."""
        if number not in self._empty_outcomes:
            self._empty_outcomes[number] = Outcome((), (), None, names)
        return self._empty_outcomes[number]

    def put(self, path: str, code: str, outcome: Outcome) -> None:
        """Remember an outcome for ``save``; one of a file whose name is no text is worked out each time."""
        if not path.isprintable() or not self._are_text(outcome.inputs) or not _is_text(outcome):
            return
        self._new.setdefault(path, {})[code] = outcome

    def value(self, key: str, kind: type) -> Outcome | None:
        """Return what an earlier run kept under a name, or None where nothing is known that still holds."""
        number, raw = self._stored.values.get(key, (-1, msgspec.Raw()))
        names = self._fresh(number, "") if number >= 0 else None
        return None if names is None else Outcome(msgspec.msgpack.decode(raw, type=kind), inputs=names)

    def put_value(self, key: str, outcome: Outcome) -> None:
        """Remember a value for ``save``, unless something went wrong, or a name in it is no text."""
        if outcome.error is None and not outcome.problems and self._are_text(outcome.inputs):
            with contextlib.suppress(UnicodeEncodeError):
                self.new_values[key] = (outcome.inputs, _encoded(outcome.value))

    def _are_text(self, names: frozenset[str]) -> bool:
        # The rules of a family mostly look at the same files, and at hundreds of them.
        if names not in self._text:
            self._text[names] = all(name.isprintable() for name in names)
        return self._text[names]

    def save(self) -> None:
        """Write the file if there is something new: whole, so that runs beside this one never see half of it.

        A folder that cannot be written costs the cache only.
        """
        if not (self._new or self.new_values):
            return
        if self._stamp() != self._read_at:
            self._stored = self._read()  # another run has saved meanwhile
        self._add()
        if len(self._stored.sets) > _MOST_WASTE * self._stored.packed:
            self._stored = _packed(self._stored)
        try:
            prepare(self._file.parent)
            data = msgspec.msgpack.encode(self._stored)
            write_atomically(self._file, _checksum(data) + data)
            prune(self._file.parent, ".msgpack", _MOST_FILES)
        except OSError:
            return
        self._new, self.new_values = {}, {}

    def _stamp(self) -> tuple[int, int] | None:
        try:
            about = self._file.stat()
        except OSError:
            return None
        return about.st_mtime_ns, about.st_ino

    def _read(self) -> _Stored:
        self._fresh_sets, self._fresh_inputs, self._unpacked, self._empty_outcomes = {}, {}, {}, {}
        try:
            content = memoryview(self._file.read_bytes())
            # What is decoded later is not looked at again, so all of it has to be as it was written.
            if content[:_SUM] == _checksum(content[_SUM:]):
                stored = msgspec.msgpack.decode(content[_SUM:], type=_Stored)
                return stored if (stored.format, stored.key) == (_FORMAT, self._key) else self._empty()
        except (OSError, msgspec.DecodeError):
            pass
        return self._empty()

    def _empty(self) -> _Stored:
        return _Stored(_FORMAT, self._key, 0, [], [], {}, {})

    def _records(self, path: str) -> _Records:
        if path not in self._unpacked:
            self._unpacked[path] = _decoded(self._stored.records.get(path))
        return self._unpacked[path]

    def _fresh(self, number: int, first: str) -> frozenset[str] | None:
        """The names of a set of inputs if all are what they were; ``first`` is the likeliest not to be."""
        if number not in self._fresh_sets:
            self._fresh_sets[number] = self._compared(number, first)
        return self._fresh_sets[number]

    def _compared(self, number: int, first: str) -> frozenset[str] | None:
        inputs = self._stored.inputs
        indices = msgspec.msgpack.decode(self._stored.sets[number], type=_Set)
        own = [index for index in indices if inputs[index][0] == first]
        if all(map(self._is_fresh, own)) and all(map(self._is_fresh, indices)):
            return frozenset([inputs[index][0] for index in indices])
        return None

    def _is_fresh(self, index: int) -> bool:
        if index not in self._fresh_inputs:
            name, digest = self._stored.inputs[index]
            self._fresh_inputs[index] = digest == self._digest(name)
        return self._fresh_inputs[index]

    def _add(self) -> None:
        """Lay the new outcomes over what is stored. What they replace leaves its set behind."""
        stored = self._stored
        indices = {item: index for index, item in enumerate(stored.inputs)}
        numbers: dict[frozenset[str], int] = {}

        def number_of(inputs: frozenset[str]) -> int:
            if inputs not in numbers:
                items = [(name, self._digest(name)) for name in sorted(inputs)]
                numbers[inputs] = len(stored.sets)
                stored.sets.append(_encoded(tuple(indices.setdefault(one, len(indices)) for one in items)))
            return numbers[inputs]

        for path, codes in sorted(self._new.items()):
            fresh = {code: _record(outcome, number_of(outcome.inputs)) for code, outcome in codes.items()}
            stored.records[path] = _encoded({**self._records(path), **fresh})
        for key, (inputs, raw) in sorted(self.new_values.items()):
            stored.values[key] = (number_of(inputs), raw)
        stored.inputs = list(indices)
        stored.packed = stored.packed or len(stored.sets)


def _checksum(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM).digest()


def _encoded(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(value))


def _decoded(raw: msgspec.Raw | None) -> _Records:
    return msgspec.msgpack.decode(raw, type=_Records) if raw is not None else {}


def _packed(stored: _Stored) -> _Stored:
    """The same without what no record needs. It unpacks every record, so it is done once in many runs."""
    numbers: dict[int, int] = {}
    indices: dict[int, int] = {}
    records = {}
    for path, raw in sorted(stored.records.items()):
        kept = {
            code: msgspec.structs.replace(item, inputs=numbers.setdefault(item.inputs, len(numbers)))
            for code, item in _decoded(raw).items()
        }
        records[path] = _encoded(kept)
    values = {
        key: (numbers.setdefault(number, len(numbers)), raw)
        for key, (number, raw) in sorted(stored.values.items())
    }
    old = (msgspec.msgpack.decode(stored.sets[number], type=_Set) for number in numbers)
    sets = [_encoded(tuple(indices.setdefault(index, len(indices)) for index in item)) for item in old]
    inputs = [stored.inputs[index] for index in indices]
    return _Stored(stored.format, stored.key, len(sets), inputs, sets, records, values)


def _is_text(outcome: Outcome) -> bool:
    """Whether no string holds a lone surrogate, which stands for a byte that is not UTF-8."""
    try:
        msgspec.msgpack.encode(_record(outcome, 0))
    except UnicodeEncodeError:
        return False
    return True


def _record(outcome: Outcome, inputs: int) -> Record:
    said = outcome.error.said if outcome.error else None
    return Record(inputs, tuple(outcome.value or ()), outcome.problems, said)


def prepare(folder: Path) -> None:
    """Make the folder, with a file in it that keeps git from looking. Raises OSError."""
    hidden = folder / ".gitignore"
    if not hidden.is_file():  # also where a run was killed before it came to that
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(hidden, b"*\n")


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
    text.update(_installation())
    return text.hexdigest()


@lru_cache(maxsize=1)
def _installation() -> bytes:
    """The tool and all that is installed beside it, as this process found it."""
    lines = [*_sources(Path(example_sanity.__file__).parent), *_distributions()]
    return "".join(lines).encode("utf-8", "surrogateescape")


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
