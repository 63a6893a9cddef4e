"""Fixes: from the edits of findings to changed files."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.errors import Uninspectable
from example_sanity.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from example_sanity.core.finding import Edit, Finding, Fix, Span
    from example_sanity.core.runner import Run


class Change(msgspec.Struct, frozen=True):
    """A file before and after, and how many fixes lie between."""

    path: str
    before: str
    after: str
    fixes: int


class Plan(msgspec.Struct, frozen=True):
    """What the fixes of some findings would change, sorted by path, and why some files are left alone."""

    changes: tuple[Change, ...]
    refusals: tuple[str, ...]


def plan(run: Run, findings: Sequence[Finding], unsafe: bool) -> Plan:
    """Work out the changes. Of fixes that overlap the first wins; a file that would no longer parse stays as it is."""
    chosen = _compatible(item.fix for item in findings if item.fix and (item.fix.safe or unsafe))
    edits: dict[str, list[Edit]] = {}
    for fix in chosen:
        for edit in fix.edits:
            edits.setdefault(edit.path, []).append(edit)
    outcomes = [_change(run, path, edits[path]) for path in sorted(edits)]
    return Plan(
        tuple(item for item in outcomes if isinstance(item, Change) and item.before != item.after),
        tuple(item for item in outcomes if isinstance(item, str)),
    )


def _compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Take each fix whose edits do not touch those that were taken before it."""
    taken: dict[str, list[Span]] = {}
    chosen = []
    for fix in fixes:
        if not any(_overlap(edit.span, span) for edit in fix.edits for span in taken.get(edit.path, ())):
            chosen.append(fix)
            for edit in fix.edits:
                taken.setdefault(edit.path, []).append(edit.span)
    return chosen


def _overlap(one: Span, other: Span) -> bool:
    """Whether two edits cannot both be made. At one and the same place, which insertion comes first would be chance."""
    a, b = (one.line, one.column), (one.end_line, one.end_column)
    c, d = (other.line, other.column), (other.end_line, other.end_column)
    return (a < d and c < b) or (a == c and (a == b or c == d))


def _change(run: Run, path: str, edits: Sequence[Edit]) -> Change | str:
    """The change of a file, or why it stays as it is."""
    target = (run.project.root / path).resolve()
    if not target.is_relative_to(run.project.root):
        return f"{path}: not fixed: it leads out of the project, to {target}"
    try:
        before = run.project.text(path)
    except Uninspectable as error:
        return f"{path}: not fixed: {error.message}"
    after = apply(before, edits)
    reader = run.registry.comment_reader(run.project, path)
    if reader is not None and reader.is_valid(before) and not reader.is_valid(after):
        return f"{path}: not fixed: the result would not parse"
    return Change(path, before, after, len(edits))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; they must not overlap. New lines end as those of the text do."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    windows = text.count("\r\n") * 2 > text.count("\n")

    def offset(line: int, column: int) -> int:
        return min(starts[line - 1] + column - 1, len(text)) if line <= len(starts) else len(text)

    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        span = edit.span
        new = edit.text.replace("\r\n", "\n")
        pieces += [
            text[position : offset(span.line, span.column)],
            new.replace("\n", "\r\n") if windows else new,
        ]
        position = offset(span.end_line, span.end_column)
    return "".join([*pieces, text[position:]])


def write(root: Path, change: Change) -> None:
    """Write the changed file, through a symbolic link where it is one. Raises OSError."""
    write_atomically((root / change.path).resolve(), change.after.encode("utf-8"))


def diff(change: Change) -> Iterator[str]:
    """Yield the lines of a unified diff that ``git apply`` takes."""
    before, after = _lines(change.before), _lines(change.after)
    for line in difflib.unified_diff(before, after, f"a/{change.path}", f"b/{change.path}"):
        if line.endswith("\n"):
            yield line[:-1]
        else:
            yield line
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    found = text.split("\n")
    return [f"{line}\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])
