"""The digests of what a computation may look at, as core.trace names it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from example_sanity.core.baseline import DEFAULT
from example_sanity.core.trace import GIT_RULES, LISTING, NAMED, SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.core.runner import Run


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
        return {"file": self._file}[kind](path)

    def _file(self, path: str) -> str:
        data = self._run.project.peek(path)
        return "-" if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()

    def _whole(self, name: str) -> str:
        project = self._run.project
        if name == NAMED:
            return _joined(self._run.named)
        # Nothing follows from the baseline being there; writing one must not cost the whole cache.
        baseline = self._run.config.baseline or DEFAULT
        files = [path for path in project.listing if path != baseline]
        extra: Iterable[str] = {
            LISTING: (),
            SCRIPTS: (path for path in files if project.is_shell(path)),
            GIT_RULES: [*(path for path in files if path.endswith(".gitignore")), ".git/info/exclude"],
        }[name]
        return _joined([*files, *(self(f"file:{path}") for path in extra)])


def _joined(words: Iterable[str]) -> str:
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
