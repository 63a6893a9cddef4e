"""Repeats the report of an earlier run as long as nothing that it depended on has changed.

The cache keeps what each rule said of each file; this keeps the report as a whole, so that a run in which nothing changed
need not know a single rule. Whatever is not exactly as it was gives no report, and the run is then made.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core import cache
from example_sanity.core.files import write_atomically
from example_sanity.core.finding import Severity
from example_sanity.core.inputs import ABSENT, behind, beside, current, digest_of
from example_sanity.core.project import CONFIG_NAMES, Stamp
from example_sanity.core.scope import Report
from example_sanity.core.trace import MOMENT, TODAY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from example_sanity.core.project import Project
    from example_sanity.core.runner import Run

_FORMAT = 3
_SUFFIX = ".report"
_MOST_FILES = 16
# A file that was written this shortly before it was read may have been written again within one tick of the clock.
_SETTLED_NS = 2_000_000_000


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    """What a file held: the digest, and what the system said of the file if that is proof enough."""

    digest: str
    stamp: Stamp | None


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """A report, and what it depends on: the files there are, those that were looked at, and what else."""

    format: int
    key: str
    listing: str
    files: dict[str, _Seen]
    fail_on: Severity
    report: Report
    others: dict[str, str] = {}


class Replay:
    """The kept report of one call: of its options, its version of the tool and its project."""

    def __init__(self, project: Project, named: Sequence[Path], *options: object) -> None:
        """Look at a project, without its configuration. ``options`` are plain data, whatever the report depends on.

        Raises UsageError for a path outside the project.
        """
        self.project = project
        self._started = time.perf_counter()
        for name in CONFIG_NAMES:
            project.peek(name)  # before the configuration is read, so that a later change is seen as one
        names = [project.relative(path) for path in named]
        kinds = [(name, project.holds(name), (project.root / name).is_dir()) for name in names]
        self._key = cache.key_of("report", ascii((str(project.root), kinds, options)))
        self._file = cache.folder_of(project.root) / f"{self._key[:16]}{_SUFFIX}"

    def find(self) -> tuple[Report, Severity] | None:
        """Return the report and the severity from which on it fails, or None where it has to be worked out."""
        try:
            record = msgspec.msgpack.decode(self._file.read_bytes(), type=_Record)
        except (OSError, msgspec.DecodeError):
            return None
        if (record.format, record.key) != (_FORMAT, self._key) or record.listing != self._listing():
            return None
        moved = [path for path, seen in record.files.items() if not self._is_untouched(path, seen)]
        if any(record.files[path].digest != digest_of(self.project, path) for path in moved):
            return None
        if any(current(self.project, name) != digest for name, digest in record.others.items()):
            return None
        if moved:
            files = {**record.files, **_seen(self.project, moved)}
            self._write(msgspec.structs.replace(record, files=files))
        seconds = time.perf_counter() - self._started
        return msgspec.structs.replace(record.report, seconds=seconds), record.fail_on

    def keep(self, run: Run, report: Report) -> None:
        """Keep the report of a run that took over what this has read, for ``find``.

        Nothing is kept of rules that come from elsewhere, or that ran a command: nobody knows what they depend on.
        """
        if run.registry.has_plugins or not run.inputs.isdisjoint({MOMENT, TODAY}):
            return
        further = {*CONFIG_NAMES, *filter(None, [run.config.path])}
        files = _seen(run.project, sorted({*behind(run.project, run.inputs), *further}))
        others = {name: current(run.project, name) for name in beside(run.inputs)}
        self._write(_Record(_FORMAT, self._key, self._listing(), files, run.config.fail_on, report, others))

    def _listing(self) -> str:
        names = "\0".join(self.project.listing)
        return hashlib.blake2b(os.fsencode(names), digest_size=16).hexdigest()

    def _is_untouched(self, path: str, seen: _Seen) -> bool:
        now = self.project.stamp(path)
        return now == seen.stamp and (now is not None or seen.digest == ABSENT)

    def _write(self, record: _Record) -> None:
        try:
            cache.prepare(self._file.parent)
            write_atomically(self._file, msgspec.msgpack.encode(record))
            cache.prune(self._file.parent, _SUFFIX, _MOST_FILES)
        except (OSError, UnicodeEncodeError):
            return  # it is only slower without; a path that is no text cannot be kept


def _seen(project: Project, paths: Sequence[str]) -> dict[str, _Seen]:
    now = time.time_ns()
    found = {}
    for path in paths:
        digest = digest_of(project, path)
        stamp = project.stamp_when_read(path)
        settled = stamp is not None and max(stamp.modified, stamp.changed) + _SETTLED_NS < now
        found[path] = _Seen(digest, stamp if settled else None)
    return found
