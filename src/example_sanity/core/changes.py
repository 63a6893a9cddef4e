"""Which lines changed since a revision, as git sees it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Finding, Span
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HUNK = regex(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class Changes:
    """The changes of a working tree since the point where a revision and HEAD part."""

    def __init__(self, lines: dict[str, list[range]], new: frozenset[str]) -> None:
        """Hold the changed ``lines`` of each changed file (from 1), and the files that are ``new``."""
        self._lines = lines
        self._new = new

    def touches(self, path: str) -> bool:
        """Return whether anything of a file changed."""
        return path in self._new or path in self._lines

    def includes(self, path: str, line: int) -> bool:
        """Return whether a line of a file changed."""
        return path in self._new or any(line in lines for lines in self._lines.get(path, ()))

    def touch(self, finding: Finding) -> bool:
        """Return whether a finding stands on changed lines; one on a whole file, whether the file changed."""
        if finding.path in self._new:
            return True
        changed = self._lines.get(finding.path)
        if changed is None or finding.span == Span():
            return changed is not None
        last = max(finding.span.line, finding.span.end_line - (finding.span.end_column == 1))
        return any(lines.start <= last and finding.span.line < lines.stop for lines in changed)


def is_checkout(root: Path) -> bool:
    """Return whether git knows the folder."""
    return _git(root, "rev-parse", "--is-inside-work-tree") is not None


def base(root: Path, revision: str) -> str | None:
    """Return the commit at which ``revision`` and HEAD parted; None where git knows none."""
    found = _git(root, "merge-base", "--end-of-options", revision, "HEAD")
    return found.strip() if found else None


def since(root: Path, revision: str) -> Changes:
    """Return what changed below ``root`` since ``revision`` and HEAD parted, untracked files included.

    Raises UsageError where there is no git, no such revision, or no common commit.
    """
    if not is_checkout(root):
        raise UsageError(f"--changed-since needs a git checkout, and {root} is none")
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise UsageError(f"--changed-since: git knows no revision {revision!r}; fetch it first")
    parted = base(root, commit.strip())
    if parted is None:
        raise UsageError(
            f"--changed-since: {revision!r} and HEAD have no common commit; a shallow clone must be deepened"
        )
    shown = _git(
        root,
        *("-c", "core.quotePath=off", "diff", "--relative", "--unified=0", "--find-renames", "--no-color"),
        *("--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", parted, "--", "."),
    )
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z") or ""
    lines: dict[str, list[range]] = {}
    for path, changed in _hunks(shown or ""):
        lines.setdefault(path, []).extend(changed)
    return Changes(lines, frozenset(untracked.split("\0")) - {""})


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None


def _hunks(diff: str) -> Iterator[tuple[str, list[range]]]:
    path, in_header = "", False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            in_header = True
        elif in_header and line.startswith(("rename to ", "+++ ")):
            name = _unquoted(line.partition(" ")[2].removeprefix("to ").rstrip("\t"))
            path = name if line.startswith("rename") else name.removeprefix("b/")
            yield path, []
        elif found := _HUNK.match(line):
            in_header = False
            first, count = int(found[1]), int(found[2] or 1)
            # What was deleted stood between two lines; either may be wrong for it.
            yield path, [range(first, first + count if count else first + 2)]


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape")
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")
