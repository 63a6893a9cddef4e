"""What the doctor says: a mismatch, or a note that is said and not judged."""

from __future__ import annotations

import enum

import msgspec

from example_sanity.doctor.asked import Place


class Kind(enum.Enum):
    """What is wrong, or why nothing is said to be."""

    MISSING = "missing"
    OUTSIDE = "outside"
    SHADOWED = "shadowed"
    EXTRA = "extra"
    CONFLICT = "conflict"
    FOLDER = "folder"
    MODULE = "module"
    GPUS = "gpus"
    COMBINATION = "combination"
    BYTECODE = "bytecode"
    UNKNOWN = "unknown"


class Statement(msgspec.Struct, frozen=True):
    """One mismatch or note about ``name``: what it is, where it is asked for, and the smallest change that fixes it."""

    kind: Kind
    name: str
    message: str
    places: tuple[Place, ...] = ()
    fix: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """What was found: mismatches make the exit code 1, notes do not."""

    mismatches: tuple[Statement, ...] = ()
    notes: tuple[Statement, ...] = ()

    def __add__(self, other: Verdict) -> Verdict:
        """Return both together, in order."""
        return Verdict(self.mismatches + other.mismatches, self.notes + other.notes)


def mismatch(*statements: Statement) -> Verdict:
    """Return a verdict of mismatches only."""
    return Verdict(mismatches=statements)


def note(*statements: Statement) -> Verdict:
    """Return a verdict of notes only."""
    return Verdict(notes=statements)
