"""Which commit or release of a framework a launcher or its repository pins, and where its source is to be read.

Read are the header of the launcher, REQUIRED_<NAME>.txt, requirements files, packaging files, Dockerfiles, and submodules. A
branch is no pin. Nothing is fetched: where neither git's objects nor a shipped schema are at hand, the pin is not judged.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.importing import source_roots
from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.schema.objects import COMMIT, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from example_sanity.core.rule import Context
    from example_sanity.doctor.asked import Asked
    from example_sanity.launch.syntax import Script

# What a Dockerfile may name in an ARG although nothing else asks for it.
_NAMES = frozenset({"verl", "slime", "miles", "megatron", "megatron-core"})
# Where the package is not called as its distribution is.
_PACKAGES = {"megatron-core": "megatron", "megatron-lm": "megatron", "verl-recipe": "recipe"}
_IN_ADDRESS = regex(r"@(?P<reference>[^@/#]+)(?:#.*)?$")
_RELEASE = regex(r"v?(?P<version>\d+(?:\.\d+)+(?:\.?(?:post|rc|a|b|dev)\d+)?)")
_SUBMODULE = regex(r"(?m)^\s*(path|url)\s*=\s*(\S+)")
# A closer word counts more.
_ORDER = ("pin", "submodule", "requirements", "pyproject", "setup.py", "setup.cfg", "image")


class Pin(msgspec.Struct, frozen=True):
    """A package at a commit or release. ``version`` is set for a release; ``at`` says where the pin is written."""

    package: str
    reference: str
    version: str | None
    at: str

    def __str__(self) -> str:
        """Return the pin as messages say it."""
        short = self.reference[:9] if COMMIT.fullmatch(self.reference) else self.reference
        return f"{self.package} {short} ({self.at})"


class Source(msgspec.Struct, frozen=True):
    """A pin with what it was found in: the folder that holds the package, the full commit, and the repository."""

    pin: Pin
    folder: Path
    commit: str
    repository: Repository


def pins(script: Script, context: Context) -> Sequence[Pin]:
    """Return what holds for a script, one pin a package, the closest word first."""
    from example_sanity.doctor.header import header

    folder = posixpath.dirname(script.path)
    near: Sequence[Pin] = context.once(f"pins {folder}", lambda: around(folder, context))
    knobs = {item.name for item in script.assignments}
    said = header(script.path, script.text, {*_NAMES, *(pin.package for pin in near)}, knobs)
    own = (_pin(item) for item in said)
    best: dict[str, Pin] = {}
    for pin in (*filter(None, own), *near):
        best.setdefault(pin.package, pin)
    return tuple(best.values())


def around(folder: str, context: Context) -> Sequence[Pin]:
    """Return what the repository pins for the scripts of a folder, the closest word first."""
    from example_sanity.doctor.sources import gather

    asked = gather(context.project, None, _NAMES, folder).asked
    found = [(_rank(item, folder), pin) for item in asked if (pin := _pin(item))]
    found += [((_ORDER.index("submodule"), 0), pin) for pin in _submodules(context)]
    return tuple(pin for _, pin in sorted(found, key=lambda pair: pair[0]))


def _rank(item: Asked, folder: str) -> tuple[int, int]:
    kind = _ORDER.index(item.kind) if item.kind in _ORDER else len(_ORDER)
    # Of two files of a kind the one nearer to the launcher counts.
    return kind, -len(posixpath.commonpath([folder or ".", posixpath.dirname(item.place.path) or "."]))


def _pin(item: Asked) -> Pin | None:
    if not item.held or item.platform:
        return None
    package = _package(item.name)
    at = str(item.place)
    if item.reference:
        address = _IN_ADDRESS.search(item.reference)
        if address is None and "://" in item.reference:
            return None
        name = address["reference"] if address else item.reference
        release = _RELEASE.fullmatch(name)
        if release or COMMIT.fullmatch(name):
            return Pin(package, name, release["version"] if release else None, at)
        return None
    exact = [one.version for one in item.window if one.operator == "==" and "*" not in one.version]
    release = _RELEASE.fullmatch(exact[0]) if exact else None
    return Pin(package, exact[0], release["version"] if release else exact[0], at) if exact else None


def _package(name: str) -> str:
    return _PACKAGES.get(name, name.replace("-", "_"))


def submodules(context: Context) -> Mapping[str, str]:
    """Return the submodules of the project, each with the commit that its index pins."""
    found: Mapping[str, str] = context.once("submodules", lambda: Repository(context.project.root).submodules)
    return found


def _submodules(context: Context) -> Iterator[Pin]:
    project = context.project
    try:
        lines = _SUBMODULE.findall(project.text(".gitmodules"))
    except Uninspectable:
        return
    pinned = submodules(context)
    paths = [value for key, value in lines if key == "path"]
    urls = [value for key, value in lines if key == "url"]
    for path, url in zip(paths, urls, strict=False):
        if path in pinned:
            last = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
            for name in dict.fromkeys((last.lower(), path.rpartition("/")[2].lower())):
                yield Pin(_package(name), pinned[path], None, f"the submodule {path}")


def source(pin: Pin, context: Context) -> Source | None:
    """Return where the source of a pin is to be read, None where its git objects are not at hand."""
    found: Source | None = context.once(f"pin {pin}", lambda: _source(pin, context))
    return found


def _source(pin: Pin, context: Context) -> Source | None:
    from example_sanity.schema.pinned import package_at

    names = [pin.reference]
    if pin.version:
        names += [f"v{pin.version}", pin.version, f"core_v{pin.version}"]
    for repository in _repositories(context):
        _watch(repository, context)
        commit = next((found for name in names if (found := repository.commit(name))), "")
        folder = package_at(repository, commit, pin.package) if commit else None
        if folder is not None:
            return Source(pin, folder, commit, repository)
    return None


def _watch(repository: Repository, context: Context) -> None:
    """Note what changes when objects come in or another commit is checked out."""
    root = f"{context.project.root}/"
    for name in ("HEAD", "FETCH_HEAD", "packed-refs") if repository.git_folder else ():
        context.project.watch(f"file:{f'{repository.git_folder}/{name}'.removeprefix(root)}")


def _repositories(context: Context) -> Iterator[Repository]:
    """Yield the configured source roots, the submodules, and the project itself, where they are git repositories."""
    root = context.project.root
    own = Repository(root)
    inside = [root / path for path in own.submodules]
    kept = [own.git_folder / "modules" / path for path in own.submodules if own.git_folder]
    for folder in (*source_roots(context), *inside, *kept, root):
        found = Repository(folder)
        is_git = folder.is_dir() and found.git_folder is not None
        # A folder of a submodule that is not checked out belongs to the repository around it.
        if is_git and (folder == root or found.git_folder != own.git_folder):
            yield found
