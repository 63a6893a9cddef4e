"""The files of the project as documents name them: by their path, a part of it, or a pattern."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from example_sanity.core.gitignore import matcher
from example_sanity.core.patterns import Syntax, predicate
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context

_SUBMODULE = regex(r"^\s*path\s*=\s*(\S+)", re.MULTILINE)

# Folders that programs write to.
_MADE = frozenset(
    [
        "output",
        "outputs",
        "log",
        "logs",
        "checkpoints",
        "ckpt",
        "ckpts",
        "results",
        "wandb",
        "tmp",
        "build",
        "_build",
        "dist",
        "cache",
    ]
)


class Files:
    """Which files and folders there are, those of submodules and those that git ignores aside."""

    def __init__(self, project: Project) -> None:
        """Look at the files of a project."""
        self.root = project.root.name
        self.all = frozenset(project.all_files)
        self.folders = project.folders - {""}
        self.tops = frozenset(folder for folder in self.folders if "/" not in folder)
        places = [path for path in sorted(self.all) if path.rpartition("/")[2] == ".gitignore"]
        self._ignore_lines = {
            path.removesuffix(".gitignore"): _text(project, path).split("\n") for path in places
        }
        modules = _text(project, ".gitmodules")
        self.submodules = tuple(found[1] for found in _SUBMODULE.finditer(modules))

    def holds(self, path: str) -> bool:
        """Return whether there is such a file or folder."""
        return path in ("", ".") or path in self.all or path in self.folders

    def resolve(self, path: str, bases: tuple[str, ...]) -> str | None:
        """Return what a path names when it is relative to one of ``bases``, the first that holds it."""
        for base in bases:
            full = posixpath.normpath(posixpath.join(base, path))
            if self.holds(full):
                return full
        return None

    def ends_with(self, path: str) -> bool:
        """Return whether some file or folder ends in these parts."""
        return path in self._tails

    @cached_property
    def _tails(self) -> frozenset[str]:
        found: set[str] = set()
        for path in (*self.all, *self.folders):
            parts = path.split("/")
            found.update("/".join(parts[start:]) for start in range(1, len(parts)))
        return frozenset(found)

    def matches(self, pattern: str, bases: tuple[str, ...]) -> bool:
        """Return whether a pattern with wildcards names something in one of ``bases``, or below a link that it names."""
        for base in bases:
            full = posixpath.normpath(posixpath.join(base, pattern))
            named = predicate(f"/{full}", Syntax.CODEOWNERS)
            if any(named(path) for path in (*self.all, *self.folders)):
                return True
            above = full.rpartition("/")[0]
            link = predicate(f"/{above}", Syntax.CODEOWNERS)
            if set("*?[") & set(above) and any("." not in path[1:] and link(path) for path in self.all):
                return True
        return False

    def is_elsewhere(self, path: str) -> bool:
        """Return whether a path lies in a submodule or behind a link, or is made rather than kept."""
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if any(folder in self.submodules or folder in self.all for folder in above):
            return True
        if not _MADE.isdisjoint(parts):
            return True
        # "results/" in a .gitignore names folders alone; what a document names may be one.
        return any(
            ignores(path[len(folder) :]) or ignores(f"{path[len(folder) :]}/")
            for folder, ignores in self._ignored
            if path.startswith(folder)
        )

    @cached_property
    def _ignored(self) -> list[tuple[str, Callable[[str], bool]]]:
        """What git ignores, by the folder that says so (with a slash behind it)."""
        return [(folder, matcher(lines)) for folder, lines in self._ignore_lines.items()]

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The files and folders of each name."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted((*self.all, *self.folders)):
            found[path.rpartition("/")[2]].append(path)
        return found

    def nearest_name(self, name: str) -> str | None:
        """Return the file whose name, of the same kind, looks much like a name that no file has."""
        from rapidfuzz import fuzz

        ending = posixpath.splitext(name)[1]
        scored = ((fuzz.ratio(name, other), other) for other in self.by_name if other.endswith(ending))
        score, best = max(scored, default=(0.0, ""))
        return self.by_name[best][0] if score >= 85 else None

    def nearest(self, path: str) -> str | None:
        """Return the file that was probably meant: of the same name and the most like path, else of a similar name."""
        from rapidfuzz import fuzz

        def alike(other: str) -> tuple[float, str]:
            return fuzz.ratio(path, other), other

        def near_enough(other: str) -> float:
            return fuzz.ratio(path, other)

        name = path.rstrip("/").rpartition("/")[2]
        same = self.by_name.get(name, [])
        if same and name not in _COMMON_NAMES:
            return max(same, key=near_enough)  # of translations alike the first, which is English more often
        ending = posixpath.splitext(name)[1]
        pool = self.all if ending else self.folders
        others = [item for item in pool if item.endswith(ending)] if ending else list(pool)
        # A long way in common makes any two paths alike, so the names have to be, too.
        near = [item for item in others if fuzz.ratio(name, item.rpartition("/")[2]) >= 65]
        scored = max(map(alike, near), default=(0.0, ""))
        return scored[1] if scored[0] >= 80 else None


_COMMON_NAMES = frozenset(
    {"README.md", "__init__.py", "index.rst", "index.md", "run.sh", "train.py", "main.py", "utils"}
)


def _text(project: Project, name: str) -> str:
    if name not in project.all_files:
        return ""
    return project.read(name).decode("utf-8", "replace")


def files_of(context: Context) -> Files:
    """Return the files of the run's project."""
    found: Files = context.once("docs files", lambda: Files(context.project))
    return found
