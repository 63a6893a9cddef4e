"""One configuration with its groups: composed on demand from files, each composition kept between runs by content."""

from __future__ import annotations

import hashlib
import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from example_sanity import __version__
from example_sanity.core.cache import prepare
from example_sanity.core.files import write_atomically
from example_sanity.schema.hydra.classes import Classes, Known
from example_sanity.schema.hydra.model import ComposeError, Composition
from example_sanity.schema.renames import Removed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.schema.hydra.compose import Composer
    from example_sanity.schema.hydra.roots import Roots


class Tree(Protocol):
    """A primary configuration that can be composed with different group choices."""

    label: str
    at_hand: bool
    """Whether the source of the program is there to be read."""

    @property
    def options(self) -> dict[str, list[str]]:
        """Every group (``a``, ``a/b``) with its options."""
        ...

    def compose(self, choices: Sequence[str]) -> Composition:
        """Return the flat form for ``group=option`` words. Raises ComposeError."""
        ...

    @property
    def inputs(self) -> frozenset[str]:
        """The host paths of the files that were looked at so far."""
        ...

    @property
    def built(self) -> frozenset[str]:
        """The names of the nodes that the program turns into objects."""
        ...

    @property
    def removed(self) -> dict[str, Removed]:
        """Keys that earlier commits had, and what became of them."""
        ...

    def mentions(self, name: str) -> bool:
        """Return whether the program's source may read something of a name: True where it is not at hand."""
        ...


class Kept(msgspec.Struct):
    """A composition in the cache, and the digests of the files that it was made of."""

    files: dict[str, str]
    composition: Composition
    options: dict[str, list[str]]


class Spec(msgspec.Struct, frozen=True):
    """Which configuration: folder (host path or ``pkg://``), name, search path and ``--config-dir`` of the command line."""

    folder: str
    name: str
    searchpath: tuple[str, ...] | None = None
    further: str | None = None


class Workshop:
    """What the trees of one run have in common: most are configurations of one folder, made of the same files."""

    def __init__(self) -> None:
        self._composers: dict[object, Composer] = {}
        self._classes: dict[Roots, Known] = {}
        self._built: dict[Path, frozenset[str]] = {}
        self._mentions: dict[tuple[Path, str], bool] = {}
        self._digests: dict[str, str] = {}

    def composer(self, roots: Roots, spec: Spec) -> Composer:
        """Return the composer of a search path."""
        key = (roots, spec.folder, spec.searchpath, spec.further)
        if key not in self._composers:
            from example_sanity.schema.hydra.compose import Composer

            self._composers[key] = Composer(roots, spec.folder, spec.searchpath, spec.further)
        return self._composers[key]

    def classes(self, roots: Roots) -> Classes:
        """Return the classes of some roots, with none looked at yet."""
        return Classes(roots, self._classes.setdefault(roots, {}))

    def built(self, package: Path) -> frozenset[str]:
        """Return what the files of a program turn into objects."""
        if package not in self._built:
            from example_sanity.schema.hydra.flatten import built_names

            self._built[package] = built_names(package)
        return self._built[package]

    def mentions(self, package: Path, name: str) -> bool:
        """Return whether a word stands in any Python file of a program."""
        if (package, name) not in self._mentions:
            plain, word = name.encode(), re.compile(rf"\b{re.escape(name)}\b".encode())
            contents = (path.read_bytes() for path in sorted(package.rglob("*.py")) if path.is_file())
            # Few files have the letters at all, and to look for those is much faster than to look for a word.
            self._mentions[package, name] = any(plain in data and word.search(data) for data in contents)
        return self._mentions[package, name]

    def digest(self, name: str) -> str:
        """Return the digest of a file or folder, as it was when first asked for."""
        if name not in self._digests:
            self._digests[name] = _digest(name)
        return self._digests[name]


class LiveTree:
    """A configuration in files."""

    at_hand = True

    def __init__(
        self, roots: Roots, spec: Spec, package: Path, cache: Path | None, shared: Workshop | None = None
    ) -> None:
        """Prepare; ``package`` is the folder of the program, ``cache`` where compositions are kept."""
        self._roots = roots
        self._spec = spec
        self._package = package
        self._cache = cache
        self._shared = shared or Workshop()
        self._known: dict[tuple[str, ...], Kept | ComposeError] = {}
        self._about: tuple[list[str], dict[str, list[str]]] | None = None
        self._classes = self._shared.classes(roots)
        self._inputs: set[str] = set()
        at = "" if roots.fixed is None or roots.changes(spec.folder) else f" at {roots.fixed[1][:9]}"
        self.label = f"{spec.name} ({self._shown(spec.folder)}{at})"

    def _shown(self, folder: str) -> str:
        return folder if "://" in folder else self._roots.shown(Path(folder))

    @property
    def inputs(self) -> frozenset[str]:
        """The YAML files, and those of the classes that they name."""
        return frozenset(self._inputs)

    @cached_property
    def options(self) -> dict[str, list[str]]:
        """Every group with its options. Raises ComposeError where the configuration itself cannot be read."""
        try:
            return self._load(()).options
        except ComposeError:
            return self._composer.options(self._spec.name)

    def compose(self, choices: Sequence[str]) -> Composition:
        """Return the flat form. Raises ComposeError."""
        return self._load(tuple(choices)).composition

    @cached_property
    def built(self) -> frozenset[str]:
        """Read from the program's files, as seldom as the question comes up."""
        return self._shared.built(self._package)

    @cached_property
    def removed(self) -> dict[str, Removed]:
        """What the newest shipped schema of the same package tells."""
        from example_sanity.schema.hydra.shipped import choose

        schema = choose(self._package.name, ())
        return schema.removed if schema else {}

    def mentions(self, name: str) -> bool:
        """Look for the word in every Python file of the program."""
        if self._shared.mentions(self._package, name):
            return True
        files = sorted(self._package.rglob("*.py"))
        # That nothing reads it depends on each of them.
        self._inputs.update(name for path in files if self._roots.changes(name := str(path)))
        return False

    def _load(self, choices: tuple[str, ...]) -> Kept:
        if choices not in self._known:
            try:
                self._known[choices] = self._fetched(choices)
            except ComposeError as error:
                self._known[choices] = error
                # What does not compose today may do so when one of these files changes.
                self._inputs.update(
                    name for name in self._composer.files(self._spec.name) if self._roots.changes(name)
                )
        found = self._known[choices]
        if isinstance(found, ComposeError):
            raise found
        return found

    def _fetched(self, choices: tuple[str, ...]) -> Kept:
        path = self._cache / f"{self._key(choices)}.json" if self._cache else None
        kept = _read(path) if path else None
        if kept is None or any(self._shared.digest(name) != digest for name, digest in kept.files.items()):
            kept = self._compose(choices)
            if path:
                _write(path, kept)
        self._inputs.update(kept.files)
        return kept

    def _key(self, choices: tuple[str, ...]) -> str:
        parts = [__version__, self._named(repr(self._spec)), *self._roots.names, *choices]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def _named(self, text: str) -> str:
        place, name = self._roots.fixed or ("", "")
        return text.replace(str(place), name) if place else text

    @cached_property
    def _composer(self) -> Composer:
        return self._shared.composer(self._roots, self._spec)

    def _compose(self, choices: tuple[str, ...]) -> Kept:
        from example_sanity.schema.hydra.flatten import flatten

        composer, spec = self._composer, self._spec
        composed = composer.compose(spec.name, choices)
        composition = flatten(composed, self._roots, self._classes)
        if self._about is None:
            self._about = composer.files(spec.name), composer.options(spec.name)
        files, options = self._about
        looked_at = (*files, *map(str, self._classes.files))
        names = [name for name in looked_at if self._roots.changes(name)]
        return Kept({name: self._shared.digest(name) for name in names}, composition, options)


def _digest(name: str) -> str:
    """Return the digest of a file, or of the names in a folder; empty for neither."""
    try:
        if os.path.isdir(name):  # noqa: PTH112
            data = "\0".join(sorted(os.listdir(name))).encode()  # noqa: PTH208
        else:
            data = Path(name).read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()[:32]


def _read(path: Path) -> Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return None


def _write(path: Path, kept: Kept) -> None:
    try:
        prepare(path.parent.parent)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, msgspec.json.encode(kept))
    except (OSError, TypeError):
        return  # a cache that cannot be written costs time only
