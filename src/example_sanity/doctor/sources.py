"""All that a repository and a launcher ask for, and which of it an environment is held to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.project import Project
from example_sanity.doctor import files, images, packages
from example_sanity.doctor.asked import Asked
from example_sanity.doctor.header import header, platform_of
from example_sanity.doctor.packages import Package
from example_sanity.launch.syntax import Script

_PACKAGING: dict[str, Callable[..., Package]] = {
    "pyproject.toml": packages.pyproject,
    "setup.cfg": packages.setup_cfg,
    "setup.py": packages.setup_py,
}


class Sources(msgspec.Struct, frozen=True):
    """What is asked for, in the order of files and lines; ``own`` are the distributions of the repository itself.

    ``overrides`` are the distributions whose version uv decides. ``composed`` are the requirements of the repository on its own extras: ``all`` asks for ``this[train,test]``.
    """

    asked: tuple[Asked, ...]
    own: frozenset[str]
    composed: tuple[Asked, ...] = ()
    overrides: frozenset[str] = frozenset()

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all sources that ask for something."""
        all_of_them = (*self.asked, *self.composed)
        return tuple(dict.fromkeys(item.source for item in all_of_them if item.kind != "overridden"))

    def hold(self, chosen: Collection[str], used: Collection[str] = ()) -> Sources:
        """Return the same, with the environment held to the chosen sources, too: what they name must be installed.

        ``used`` are further extras; where the header of the launcher names a version it is the closer word, and theirs
        does not count. Raises UsageError for a name that is no source.
        """
        for name in chosen:
            if name not in self.named:
                near = did_you_mean(name, self.named)
                raise UsageError(f"--with {name}: no extra, group or file that asks for anything{near}")
        wanted, implied = self._with_composed(chosen), self._with_composed(used)
        closer = {
            item.name for item in self.asked if item.kind == "header" and (item.window or item.reference)
        }
        return replace(
            self,
            asked=tuple(
                _held(item)
                if item.source in wanted or (item.source in implied and item.name not in closer)
                else item
                for item in self.asked
            ),
        )

    def _with_composed(self, chosen: Collection[str]) -> set[str]:
        wanted: set[str] = set()
        queue = list(chosen)
        while queue:
            name = queue.pop()
            if name not in wanted:
                wanted.add(name)
                queue += [extra for item in self.composed if item.source == name for extra in item.extras]
        return wanted


def _held(item: Asked) -> Asked:
    if item.kind == "overridden":
        return item
    # A constraint stays one: it never makes a distribution necessary.
    return replace(item, held=True, present=item.kind != "constraints", platform=None)


def gather(project: Project, script: Script | None, installed: Collection[str], folder: str = "") -> Sources:
    """Return what the files of a project and the header of a script ask for.

    The environment is held to what lies at the root or in a folder above the script under its default name
    (requirements.txt, pyproject.toml, setup.py, setup.cfg, Dockerfile, REQUIRED_*.txt), and to the header. All else
    (extras, dependency groups, requirements-npu.txt, Dockerfile.rocm) is one of several ways to set up an environment. Without a script
    those in ``folder`` count.
    """
    above = _folders_above(script.path if script else f"{folder}/")

    def read(path: str) -> str | None:
        try:
            return project.text(path)
        except Uninspectable:
            return None

    files_found = _named(project, _PACKAGING)
    found = [_packaging(path, read, posixpath.dirname(path) in above) for path in files_found]
    tables = {
        posixpath.dirname(path): package.dynamic
        for path, package in zip(files_found, found, strict=True)
        if package.dynamic is not None
    }
    asked = [_in_force(item, tables) for package in found for item in package.asked]
    own = frozenset(package.name for package in found if package.name)
    asked += _requirements(project, read, above)
    known = {*installed, *(item.name for item in asked)}
    for path in project.files:
        if images.is_dockerfile(path):
            held = _is_default_image(path, above)
            asked += images.image(path, read(path) or "", known, held=held)
    if script:
        knobs = {item.name for item in script.assignments}
        asked += header(script.path, read(script.path) or "", known, knobs)
    unique = tuple(dict.fromkeys(_for_platform(item) for item in asked))
    # A project that splits off from another may still be called like it; who pins that one does not mean itself.
    others = tuple(item for item in unique if item.kind == "pin" or item.name not in own)
    overrides = frozenset(name for package in found for name in package.overrides)
    return Sources(others, own, tuple(item for item in unique if item not in others), overrides)


def _for_platform(item: Asked) -> Asked:
    """What stands in requirements-npu.txt holds on NPUs, unless somebody chooses it."""
    if item.platform or item.held or item.kind not in {"requirements", "constraints", "image"}:
        return item
    return replace(item, platform=platform_of(re.sub(r"[-_./]", " ", item.source)))


def _in_force(item: Asked, tables: Mapping[str, frozenset[str]]) -> Asked:
    """What setup.py and setup.cfg say counts only where the project table of pyproject.toml leaves it to them."""
    folder, name = posixpath.split(item.place.path)
    if name not in {"setup.py", "setup.cfg"} or folder not in tables:
        return item
    field = "optional-dependencies" if item.kind == "extra" else "dependencies"
    return item if field in tables[folder] else replace(item, kind="overridden", held=False)


def _folders_above(path: str) -> frozenset[str]:
    parts = posixpath.dirname(path).split("/") if posixpath.dirname(path) else []
    return frozenset("/".join(parts[:count]) for count in range(len(parts) + 1))


def _named(project: Project, names: Collection[str]) -> list[str]:
    return [path for path in project.files if posixpath.basename(path) in names]


def _packaging(path: str, read: files.Read, held: bool) -> Package:
    package = _PACKAGING[posixpath.basename(path)](path, read(path) or "", held=held)
    asked = list(package.asked)
    for name in package.files:
        full = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        asked += files.requirements(full, read, held=held)
    return replace(package, asked=tuple(asked))


def _requirements(project: Project, read: files.Read, above: Collection[str]) -> Iterator[Asked]:
    """Requirements files by their name; a file that packaging files or others include is read once more by its own name."""
    for path in project.files:
        folder, name = posixpath.split(path)
        if files.is_pin_file(path):
            yield from files.pinned(path, read, held=folder in above)
        elif name.endswith(".txt") and (
            "requirements" in name.lower() or posixpath.basename(folder) == "requirements"
        ):
            yield from files.requirements(path, read, held=folder in above and name == "requirements.txt")
        elif name.endswith(".txt") and "constraints" in name.lower():
            yield from map(files.constraint, files.requirements(path, read, held=False))


def _is_default_image(path: str, above: Collection[str]) -> bool:
    folder, name = posixpath.split(path)
    parent, last = posixpath.split(folder)
    return name in {"Dockerfile", "Containerfile"} and (
        folder in above or (last == "docker" and parent in above)
    )


def used_extras(asked: Sequence[Asked], values: Collection[str]) -> frozenset[str]:
    """Return the extras that a launch uses: it passes their name, and they ask for the distribution of that name.

    ``rollout.name=vllm`` is the extra ``vllm`` that asks for vllm; ``device=gpu`` is not the extra ``gpu``.
    """
    return frozenset(
        item.source
        for item in asked
        if item.kind == "extra" and item.name == item.source and item.source in values
    )
