"""Where the modules of a repository are, as an import in one of its files finds them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.checks.sources import base
from example_sanity.checks.sources.names import Names, Origin, names_of
from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context

_BUILD_FILES = (
    "setup.py",
    "pyproject.toml",
    "CMakeLists.txt",
    "Makefile",
    "meson.build",
    ".gitignore",
    "setup.cfg",
)
_REQUIRES = regex(r"(?:.*/)?[\w-]*requirements[\w-]*\.txt")
# "terminal-bench==0.2.18", quoted or on a line of its own
_REQUIREMENT = regex(r"(?:^[ \t]*|[\"'])([A-Za-z][\w.-]*)(?=[ \t]*(?:[\[=<>~!@;#\"']|$))", re.MULTILINE)
_BINDS = regex(r"^(?:(?:async )?def |class )?(\w+)\b\s*[(:=]", re.MULTILINE)


class Missing(msgspec.Struct, frozen=True):
    """An import that leads nowhere: the dotted name up to the part that is missing, the folder that lacks it, and that part."""

    name: str
    folder: str
    part: str


def index_of(context: Context) -> Index:
    """Return the index of the project of a run."""
    found: Index = context.once("sources:index", lambda: _index(context))
    return found


def _index(context: Context) -> Index:
    project = context.project
    files = project.all_files
    near = [path for path in files if path.count("/") <= 4]
    build = _texts(project, [path for path in near if path.rpartition("/")[2] in _BUILD_FILES])
    required = _texts(project, [path for path in near if _REQUIRES.fullmatch(path)])
    opaque = [
        path for path in files if path.endswith("__init__.py") and b"__path__" in (project.peek(path) or b"")
    ]
    for path in opaque:
        project.watch(f"file:{path}")
    roots = [root for root in context.config.source_roots if not root.startswith("/")]
    index = Index(files, roots, build, base.options(context).built, opaque)
    names = _REQUIREMENT.findall(f"{build}\n{required}")
    index.required = frozenset(name.replace("-", "_").lower() for name in names)
    return index


def _texts(project: Project, paths: Sequence[str]) -> str:
    for path in paths:
        project.watch(f"file:{path}")
    return "\n".join((project.peek(path) or b"").decode("utf-8", "replace") for path in paths)


class Index:
    """The Python files of a project. Folders and files are relative to its root; the root is the empty string.

    ``required`` are the distributions that the project asks for, as modules are spelt.
    """

    required: frozenset[str] = frozenset()

    def __init__(
        self,
        files: Iterable[str],
        roots: Sequence[str] = (),
        build: str = "",
        built: Sequence[str] = (),
        opaque: Iterable[str] = (),
    ) -> None:
        """Take the ``files`` of a project, further ``roots`` of modules, the text of its ``build`` files, modules that are
        ``built``, and the ``opaque`` ``__init__.py`` that look for modules elsewhere."""
        self._files = frozenset(files)
        self._roots = tuple(root.strip("/") for root in roots)
        self._build = frozenset(re.findall(r"\w+", build))
        self._built = frozenset(built)
        self._opaque = frozenset(path.rpartition("/")[0] for path in opaque)
        self._children: dict[str, set[str]] = {}
        self._holders: dict[str, set[str]] = {}
        self._stems: dict[str, set[str]] = {}
        for path in self._files:
            self._add(path)

    def _add(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        self._stems.setdefault(folder, set()).add(name.partition(".")[0])
        if not name.endswith((".py", ".pyi")):
            return
        self._children.setdefault(folder, set()).add(name.rpartition(".")[0])
        while folder:
            parent, _, part = folder.rpartition("/")
            if part in self._children.setdefault(parent, set()):
                break
            self._children[parent].add(part)
            folder = parent

    def is_package(self, folder: str) -> bool:
        """Whether a folder is a regular package whose modules are all below it."""
        return f"{_join(folder, '__init__')}.py" in self._files and folder not in self._opaque

    def children(self, folder: str) -> frozenset[str]:
        """The modules and packages directly in a folder."""
        return frozenset(self._children.get(folder, ())) - {"__init__"}

    def has_child(self, path: str, name: str) -> bool:
        """Whether a package, named by its ``__init__.py``, has a module of that name."""
        return path.endswith("__init__.py") and name in self.children(path.rpartition("/")[0])

    def root_of(self, path: str) -> str:
        """The folder above the outermost package that a file lies in."""
        folder = root = path.rpartition("/")[0]
        while folder:
            parent = folder.rpartition("/")[0]
            if f"{folder}/__init__.py" in self._files:
                root = parent
            folder = parent
        return root

    def module_name(self, path: str) -> str:
        """The dotted name of a file, from the outermost package that it lies in."""
        root = self.root_of(path)
        inner = path[len(root) + 1 :] if root else path
        return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def absolute(self, path: str, origin: Origin) -> str:
        """The dotted name of what an import in a file names."""
        if not origin.level:
            return origin.module
        folder = _up(path, origin.level)
        here = self.module_name(f"{folder}/__init__.py" if folder else "__init__.py")
        return ".".join(part for part in (here, origin.module) if part)

    def find(self, path: str, origin: Origin) -> str | None:
        """Return the file of the module that an import in a file names, or None where it is not of this project."""
        return next(iter(self.candidates(path, origin)), None)

    def candidates(self, path: str, origin: Origin) -> list[str]:
        """Return all files that an import in a file may name, those that it sees without further search paths first."""
        files = (
            candidate
            for place in self._walk(path, origin)[0]
            for candidate in (f"{_join(place, '__init__')}.py", f"{place}.py")
        )
        return [file for file in files if file in self._files]

    def missing(self, path: str, origin: Origin) -> Missing | None:
        """Return what an import in a file lacks, or None where it leads somewhere or may come from elsewhere."""
        places, parts, before = self._walk(path, origin)
        if places or not before:
            return None
        at = len(origin.module.split(".")) - len(parts)
        done = origin.module.split(".")[:at]
        name = str(Origin(origin.level, ".".join([*done, parts[0]])))
        return self._judge(name, parts[0], before, bool(origin.level and not done))

    def missing_name(self, path: str, origin: Origin, name: str) -> Missing | None:
        """Return what ``from ORIGIN import NAME`` lacks among the modules of a package; None where it is there."""
        places = self._walk(path, origin)[0]
        if not places or any(name in self.children(place) for place in places):
            return None
        dotted = f"{origin}{'' if str(origin).endswith('.') else '.'}{name}"
        return self._judge(dotted, name, places, relative=False)

    def _judge(self, name: str, part: str, places: Sequence[str], relative: bool) -> Missing | None:
        closed = all(self._is_closed(place) for place in places)
        if (
            not (closed or relative)
            or any(self._is_made(place, part) for place in places)
            or name in self._built
        ):
            return None
        return Missing(name, places[0], part)

    def _is_closed(self, place: str) -> bool:
        """Whether nothing of a module lies elsewhere.

        A folder that is no regular package may have more portions, installed or elsewhere on the path; one inside a
        regular package only where that looks for modules.
        """
        if f"{place}.py" in self._files:
            return True
        while place and not self.is_package(place):
            place = place.rpartition("/")[0]
        return bool(place)

    def _is_made(self, folder: str, part: str) -> bool:
        """Whether a module may come out of a build: sources of another language, or a build file that names it."""
        # protoc names what it makes after the .proto file.
        stem = re.sub(r"_pb2(?:_grpc)?$", "", part)
        return bool({part, stem} & self._stems.get(folder, set())) or part in self._build

    def _walk(self, path: str, origin: Origin) -> tuple[list[str], list[str], list[str]]:
        """Follow an import: the places (without suffix) that it leads to, the parts that are left, the places before those."""
        parts = [part for part in origin.module.split(".") if part]
        if origin.level:
            places = [_up(path, origin.level)]
        else:
            visible = [root for root in self._visible(path) if parts[0] in self.children(root)]
            # Of a name that only stands deep in the repository nobody can say that it is meant.
            if not visible or (len(parts) > 1 and self._may_be_installed(parts[0], path, visible)):
                return [], parts, []
            places = list(dict.fromkeys((*visible, *sorted(self._holding(parts[0])))))
        before: list[str] = []
        # All portions are followed at once, as Python does with those of a namespace package.
        while parts:
            following = [_join(place, parts[0]) for place in places if parts[0] in self.children(place)]
            if not following:
                return [], parts, places
            before, places, parts = places, following, parts[1:]
        return places, parts, before

    def _visible(self, path: str) -> list[str]:
        return list(dict.fromkeys(("", "src", *self._roots, self.root_of(path))))

    def _may_be_installed(self, top: str, path: str, visible: Sequence[str]) -> bool:
        """Whether a name that stands beside the file's outermost package is that of something else.

        That is so where it is the file itself, which has no modules, and where the project requires a distribution of
        that name.
        """
        if not {"", "src", *self._roots}.isdisjoint(visible):
            return False
        return top.lower() in self.required or all(f"{_join(root, top)}.py" == path for root in visible)

    def _holding(self, part: str) -> set[str]:
        """The folders outside of packages that have a module or a package of this name, and can be put on the path."""
        if part not in self._holders:
            self._holders[part] = {
                folder
                for folder, children in self._children.items()
                if part in children and f"{folder}/__init__.py" not in self._files
            }
        return self._holders[part]


def names(context: Context, path: str) -> Names | None:
    """Return what a module of the project binds; None where it cannot be read."""
    found: Names | None = context.once(f"sources:names:{path}", lambda: _names(context, path))
    return found


def _names(context: Context, path: str) -> Names | None:
    try:
        (source,) = context.load(Subject.PYTHON_SOURCE, path)
    except Uninspectable:
        return None
    assert isinstance(source, PythonSource)
    return names_of(source)


def binds(context: Context, path: str, name: str, depth: int = 8) -> bool:
    """Whether a module binds a name, or may: through star imports, or where its names are made while it is imported."""
    if name in plain_names(context, path):
        return True
    found = names(context, path)
    if found is None or found.open or name in found.bound or depth == 0:
        return True
    index = index_of(context)
    for origin in found.stars:
        target = index.find(path, origin)
        if target is None or binds(context, target, name, depth - 1):
            return True
    return False


def plain_names(context: Context, path: str) -> frozenset[str]:
    """The names that lines of a module define or assign: a fast answer for most that are there."""

    def read() -> frozenset[str]:
        try:
            return frozenset(_BINDS.findall(context.project.text(path)))
        except Uninspectable:
            return frozenset()

    found: frozenset[str] = context.once(f"sources:plain:{path}", read)
    return found


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _up(path: str, level: int) -> str:
    folder = path
    for _ in range(level):
        folder = folder.rpartition("/")[0]
    return folder
