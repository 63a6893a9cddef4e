"""Makes the subjects of the family: the entries of every ignore list that a file carries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.config import IgnoreList
from example_sanity.core.exemptions import Effect, Entry, Syntax
from example_sanity.core.ignorelists import TABLE
from example_sanity.core.rule import Context, Loaded, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.ignores import readers
    from example_sanity.core.textplaces import Key

_NAMES = frozenset(
    {
        "pyproject.toml",
        "example-sanity.toml",
        "ruff.toml",
        ".ruff.toml",
        "mypy.ini",
        ".mypy.ini",
        "setup.cfg",
        ".pre-commit-config.yaml",
    }
)
_CODEOWNERS = frozenset({"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"})
TRANSIENT = (
    "*.egg-info",
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".idea",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "env",
    "node_modules",
    "site-packages",
    "venv",
)


class IgnoresOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """``[tool.example-sanity.ignores]``.

    ``list`` binds ignore lists that live in Python files to the family whose findings they suppress. ``transient``
    names (or globs) files and folders that come and go, such as build folders: an exclude that names one is never stale.
    """

    list: tuple[IgnoreList, ...] = ()
    transient: tuple[str, ...] = TRANSIENT


class EntryLoader:
    """The entries of the ignore lists in a file."""

    subject = Subject.CONFIG_ENTRY

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is one that carries ignore lists, by its name."""
        if path.rpartition("/")[2] in _NAMES or path in _CODEOWNERS or path == context.config.path:
            return True
        bound = context.options("ignores", IgnoresOptions).list
        return any(path == item.file for item in bound)

    def load(self, context: Context, path: str) -> Loaded:
        """Return the entries in the order of the file. Raises Uninspectable (SYS001, SYS002)."""
        found = [entry for entry in context.entries if entry.path == path]
        found += _read(context, path)
        found.sort(key=lambda entry: entry.span)
        return Loaded(tuple(found))


def _read(context: Context, path: str) -> Iterator[Entry]:
    from example_sanity.checks.ignores import readers

    text = context.project.text(path)
    name = path.rpartition("/")[2]
    if path in _CODEOWNERS:
        yield from readers.codeowners_entries(path, text)
    elif name == ".pre-commit-config.yaml":
        yield from readers.precommit_entries(path, text)
    elif name in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        yield from readers.mypy_ini_entries(path, text)
    # Most pyproject.toml files of a repository (test data, packages) carry no list, and need not even be valid.
    elif path == context.config.path or re.search(
        r"\[\s*tool\s*\.\s*(ruff|mypy)|^\[*tool\]", text, re.MULTILINE
    ):
        yield from _toml_entries(readers.TomlLists(path, text), name, context)
    elif name in ("ruff.toml", ".ruff.toml"):
        yield from readers.ruff_entries(readers.TomlLists(path, text), (), "ruff ")


def _toml_entries(lists: readers.TomlLists, name: str, context: Context) -> Iterator[Entry]:
    if lists.path == context.config.path:
        yield from _own_lists(lists)
    if name == "pyproject.toml":
        from example_sanity.checks.ignores import readers

        yield from readers.ruff_entries(lists, ("tool", "ruff"), "ruff ")
        yield from readers.mypy_toml_entries(lists)


def _own_lists(lists: readers.TomlLists) -> Iterator[Entry]:
    """Our ``exclude`` and ``include``; per-file-ignore is among the entries of the run."""
    prefix: Key = TABLE if any(key[:2] == TABLE for key in lists.places) else ()
    for name, effect in (("exclude", Effect.LEAVES_OUT), ("include", Effect.SELECTS)):
        for pattern, span, removal in lists.strings((*prefix, name)):
            yield Entry(
                pattern,
                Syntax.GITIGNORE,
                name,
                lists.path,
                span,
                effect=effect,
                group=name,
                removal=removal,
            )
