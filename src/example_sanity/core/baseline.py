"""The baseline: findings that were there when the tool came, by fingerprint, so that only new ones count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.errors import UsageError
from example_sanity.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from example_sanity.core.finding import Finding

DEFAULT = ".example-sanity-baseline.json"
LABEL = "baseline"
VERSION = 1
Triple = tuple[str, str, str]  # path, code and fingerprint
Entries = dict[str, dict[str, list[str]]]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    """What the file holds: for each path, for each code, the fingerprints."""

    version: int
    findings: Entries


class StaleEntry(msgspec.Struct, frozen=True):
    """Baselined findings of one rule in one file that are no longer there.

    ``path`` and ``code`` say of what, ``count`` how many; ``baseline`` is the file and ``line`` the line with the entry.
    """

    path: str
    code: str
    count: int
    baseline: str
    line: int


class Baseline:
    """The findings that are accepted for now. ``path`` is the file relative to the root of the project."""

    def __init__(self, path: str, entries: Entries, text: str = "") -> None:
        """Hold ``entries``; ``text`` is what they were read from."""
        self.path = path
        self.entries = entries
        self._lines = text.split("\n")

    def holds(self, finding: Finding) -> bool:
        """Return whether a finding is accepted."""
        return finding.fingerprint in self.entries.get(finding.path, {}).get(finding.code, ())

    def line(self, path: str, code: str) -> int:
        """Return the line of the file on which an entry begins; 1 where it is not laid out as we write it."""
        wanted = [f"{json.dumps(path)}: {{", f"{json.dumps(code)}: ["]
        for number, line in enumerate(self._lines, 1):
            if line.strip() == wanted[0]:
                wanted.pop(0)
                if not wanted:
                    return number
        return 1

    def without(self, stale: Iterable[Triple]) -> Baseline:
        """Return a copy that lacks the given triples of path, code and fingerprint."""
        gone = set(stale)
        return Baseline(self.path, _entries(item for item in _triples(self.entries) if item not in gone))

    def extended(self, findings: Iterable[Finding]) -> Baseline:
        """Return a copy that holds ``findings`` too."""
        added = [(finding.path, finding.code, finding.fingerprint) for finding in findings]
        return Baseline(self.path, _entries([*_triples(self.entries), *added]))

    def triples(self) -> list[Triple]:
        """Return path, code and fingerprint of every entry, sorted."""
        return _triples(self.entries)

    def write(self, root: Path) -> None:
        """Write the file: sorted, an item a line, so that branches merge. Raises UsageError."""
        data = {"version": VERSION, "findings": self.entries}
        text = json.dumps(data, indent=1, ensure_ascii=True) + "\n"
        try:
            write_atomically(root / self.path, text.encode())
        except OSError as error:
            raise UsageError(f"cannot write the baseline {root / self.path}: {error.strerror}") from error


def _triples(entries: Entries) -> list[Triple]:
    return sorted(
        (path, code, fingerprint)
        for path, codes in entries.items()
        for code, fingerprints in codes.items()
        for fingerprint in fingerprints
    )


def _entries(triples: Iterable[Triple]) -> Entries:
    entries: Entries = {}
    for path, code, fingerprint in sorted(set(triples)):
        entries.setdefault(path, {}).setdefault(code, []).append(fingerprint)
    return entries


def load(root: Path, name: str | None) -> Baseline | None:
    """Read the baseline that the configuration names, else the default one, else return None.

    Raises UsageError for one that is named and not there, or that is broken.
    """
    file = root / (name or DEFAULT)
    if name is None and not file.exists():
        return None
    try:
        text = file.read_text("utf-8")
        # Not msgspec's own decoder: a path that is not UTF-8 is written with a lone surrogate.
        document = msgspec.convert(json.loads(text), _Document)
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no baseline {name}, which the configuration names; write it with: example-sanity baseline"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the baseline {file}: {error}") from error
    except (json.JSONDecodeError, msgspec.ValidationError) as error:
        hint = "it holds conflict markers of a merge" if "\n<<<<<<<" in f"\n{text}" else str(error)
        raise UsageError(
            f"the baseline {file} is broken: {hint}; repair it, or delete it and run: example-sanity baseline"
        ) from error
    if document.version != VERSION:
        raise UsageError(
            f"the baseline {file} has version {document.version}, and this program reads version {VERSION}"
        )
    return Baseline(name or DEFAULT, document.findings, text)
