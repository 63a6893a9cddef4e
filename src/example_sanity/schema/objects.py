"""Reads the objects of a git repository: commits, the files of one, its history. No checkout, no network, no write."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

COMMIT = regex(r"[0-9a-f]{7,40}")
# No transport may be used: a partial clone would fetch what is missing.
_OFFLINE = ("-c", "protocol.allow=never", "-c", "core.fsmonitor=false")
_LARGEST = 4_000_000


class Change(NamedTuple):
    """A file that a commit changed: its path before and after, and the object of each, empty where there is none."""

    old: str
    path: str
    before: str
    after: str


def _change(row: str) -> Change | None:
    """Read a line of ``git log --raw``: modes, objects, status, and one path or two."""
    about, *paths = row.split("\t")
    fields = about.lstrip(":").split()
    if len(fields) != 5 or not paths:
        return None
    before, after = ("" if name.strip("0") == "" else name for name in fields[2:4])
    return Change(paths[0], paths[-1], before, after)


class Repository(msgspec.Struct, frozen=True, dict=True):
    """A repository by a folder of its work tree, or by its git directory. Whatever git refuses is an empty answer."""

    folder: Path

    def _run(self, *arguments: str, data: bytes | None = None) -> bytes | None:
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
        command = ["git", *_OFFLINE, "-C", str(self.folder), *arguments]
        try:
            done = subprocess.run(command, input=data, capture_output=True, check=False, env=environment)
        except OSError:
            return None
        return done.stdout if done.returncode == 0 else None

    def _text(self, *arguments: str) -> str:
        found = self._run(*arguments)
        return "" if found is None else found.decode("utf-8", "surrogateescape").strip()

    @cached_property
    def head(self) -> str:
        """The commit that is checked out; empty where there is none."""
        return self.commit("HEAD")

    def commit(self, name: str) -> str:
        """Return the full name of a commit, tag or branch whose commit is at hand; empty for none."""
        return self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def files(self, commit: str, suffixes: tuple[str, ...], *below: str) -> dict[str, str]:
        """Return path and object of the regular files of a commit that end so; ``below`` limits it to folders."""
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *below) or b""
        found = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = line.partition("\t")
            # Links and submodules are no files.
            if about.startswith("100") and path.endswith(suffixes):
                found[path] = about.split()[2]
        return found

    def blobs(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of objects, each once; those that are not at hand, or very large, are left out."""
        wanted = list(dict.fromkeys(names))
        # All questions go in before the first answer is read.
        data = self._run("cat-file", "--batch", data="".join(f"{name}\n" for name in wanted).encode()) or b""
        place = 0
        for name in wanted:
            end = data.find(b"\n", place)
            header = data[place:end].split()
            place = end + 1
            if end < 0 or len(header) != 3:
                continue
            size = int(header[2])
            if size <= _LARGEST:
                yield name, data[place : place + size]
            place += size + 1

    def changes(self, commit: str, below: Sequence[str], suffix: str) -> list[tuple[str, str, list[Change]]]:
        """Return commit, date and changed files of the first parents of a commit, newest first.

        Only files below some folders that end in ``suffix`` count.
        """
        listed = self._text(
            *("log", "--first-parent", "-m", "--raw", "-M", "--no-abbrev", "--format=%x01%H %cs", commit),
            *("--", *(f"{folder}/" for folder in below)),
        )
        found = []
        for text in listed.split("\1")[1:]:
            head, *rows = text.strip().split("\n")
            items = [item for row in rows if (item := _change(row)) and item.path.endswith(suffix)]
            if items:
                found.append((head[:40], head[41:], items))
        return found

    def release(self, commit: str) -> str:
        """Return the first tag that contains a commit; empty where none does."""
        found = self._text("tag", "--contains", commit, "--sort=creatordate").split("\n")
        return next((tag for tag in found if re.fullmatch(r"\D*\d+(?:\.\d+)+", tag)), "")

    @cached_property
    def submodules(self) -> dict[str, str]:
        """The paths of submodules, each with the commit that the index pins."""
        listed = self._run("ls-files", "-s", "-z") or b""
        rows = (line.partition("\t") for line in listed.decode("utf-8", "surrogateescape").split("\0"))
        return {path: about.split()[1] for about, _, path in rows if about.startswith("160000")}

    @cached_property
    def git_folder(self) -> Path | None:
        """The git directory, None where the folder belongs to no repository."""
        found = self._text("rev-parse", "--absolute-git-dir")
        return Path(found) if found else None
