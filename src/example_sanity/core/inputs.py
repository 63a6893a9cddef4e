"""The digests of what a computation may look at, as core.trace names it."""

from __future__ import annotations

import datetime
import hashlib
import os
import time
from typing import TYPE_CHECKING

from example_sanity.core.baseline import DEFAULT
from example_sanity.core.places import names_in, state
from example_sanity.core.trace import GIT_RULES, LISTING, MOMENT, NAMED, PLACES, SCRIPTS, TODAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from example_sanity.core.project import Project
    from example_sanity.core.runner import Run

ABSENT = "-"  # the digest of a file that cannot be read
REVISION = "revision"
PLACE = "place"


class Digests:
    """Tells the digest that an input has now; each is worked out once."""

    def __init__(self, run: Run) -> None:
        """Look at the inputs of a run."""
        self._run = run
        self._known: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return the digest of an input. Raises KeyError for a name that is none."""
        if name not in self._known:
            kind, _, path = name.partition(":")
            self._known[name] = self._one(kind, path) if path else self._whole(name)
        return self._known[name]

    def _one(self, kind: str, path: str) -> str:
        if kind == "callers":
            return _joined(self._run.project.callers_of(path))
        if kind in (REVISION, PLACE):
            return current(self._run.project, f"{kind}:{path}")
        return {"file": digest_of}[kind](self._run.project, path)

    def _whole(self, name: str) -> str:
        project = self._run.project
        if name == NAMED:
            return _joined(self._run.named)
        if name == MOMENT:
            return str(time.time_ns())
        if name == TODAY:
            return datetime.date.today().isoformat()
        if name == PLACES:
            return current(project, name)
        # Nothing follows from the baseline being there; writing one must not cost the whole cache.
        baseline = self._run.config.baseline or DEFAULT
        files = [path for path in project.listing if path != baseline]
        extra = [path for path in _extra(project, name) if path != baseline]
        return _joined([*files, *(self(f"file:{path}") for path in extra)])


def digest_of(project: Project, path: str) -> str:
    """Return the digest of a file as the project reads it, or of the names in a folder."""
    data = project.peek(path)
    if data is not None:
        return hashlib.blake2b(data, digest_size=16).hexdigest()
    names = names_in(os.path.join(project.root, path))  # noqa: PTH118  # speed
    return ABSENT if names is None else _joined(["", *names])


def current(project: Project, name: str) -> str:
    """Return the digest of an input that ``beside`` gives: a revision stands for the commit at which it and HEAD parted."""
    if name == PLACES:
        return _joined(project.places.seen)
    kind, _, path = name.partition(":")
    if kind == PLACE:
        return _joined(state(project.root, path))
    from example_sanity.core.changes import base

    return base(project.root, path) or ABSENT


def beside(names: Iterable[str]) -> list[str]:
    """Return those of some inputs that neither a file nor the listing tells, in order."""
    return sorted(name for name in names if name == PLACES or name.startswith((f"{REVISION}:", f"{PLACE}:")))


def _extra(project: Project, name: str) -> Iterable[str]:
    """The files whose contents count for an input that is about the listing. Raises KeyError for a name that is none."""
    kinds: dict[str, Callable[[], Iterable[str]]] = {
        LISTING: tuple,
        SCRIPTS: lambda: (path for path in project.listing if project.is_shell(path)),
        GIT_RULES: lambda: [
            *(path for path in project.listing if path.endswith(".gitignore")),
            ".git/info/exclude",
        ],
    }
    return kinds[name]()


def behind(project: Project, names: Iterable[str]) -> set[str]:
    """Return the files whose contents decide the digests of some inputs, as far as the listing and the call do not."""
    found: set[str] = set()
    for name in names:
        kind, _, path = name.partition(":")
        if kind == "file":
            found.add(path)
        elif kind == "callers":
            found.update(project.calling)
        elif name == SCRIPTS:
            found.update(item for item in project.listing if project.may_be_shell(item))
        elif name not in (NAMED, TODAY, PLACES) and kind not in (REVISION, PLACE):
            found.update(_extra(project, name))
    return found


def _joined(words: Iterable[str]) -> str:
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
