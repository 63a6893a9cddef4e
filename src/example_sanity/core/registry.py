"""Rule families, subject loaders and presets: ours, and those of plugins."""

from __future__ import annotations

import glob
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pluggy

from example_sanity.core import system
from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.core.project import SHELL_SUFFIXES
from example_sanity.core.regex import regex
from example_sanity.core.rule import iterate_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from example_sanity.core.comments import CommentReader
    from example_sanity.core.project import Project
    from example_sanity.core.rule import Family, Loader, Rule, Subject

PROJECT_NAME = "example_sanity"
_CODE = regex(r"[A-Za-z]{3}\d{3}")
hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


class Hooks:
    """What a plugin may add, through the entry-point group ``example_sanity``."""

    @hookspec
    def checks_rules(self) -> Sequence[Family]:
        """Return rule families."""
        raise NotImplementedError

    @hookspec
    def checks_subjects(self) -> Sequence[Loader]:
        """Return loaders of subjects; one of a kind that exists already replaces it."""
        raise NotImplementedError

    @hookspec
    def checks_comments(self) -> Sequence[CommentReader]:
        """Return readers of comments, for kinds of files in which findings can be suppressed inline."""
        raise NotImplementedError

    @hookspec
    def checks_presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Return presets: a name, and the configuration table that it stands for."""
        raise NotImplementedError

    @hookspec
    def checks_backends(self) -> Sequence[Any]:
        """Return training backends, each a ``parallel.mesh.Backend``: where sizes are set and what they must fulfil."""
        raise NotImplementedError

    @hookspec
    def checks_entrypoints(self) -> Mapping[str, Any]:
        """Return commands that start programs: ``"tool"``, or ``"tool run"``, and a ``launch.launchers.Grammar`` each."""
        raise NotImplementedError


class Registry:
    """Everything that is known to this run."""

    def __init__(self, plugins: Iterable[object], *, discover: bool = True) -> None:
        """Register ``plugins`` in order, then those that installed distributions offer."""
        self.manager = pluggy.PluginManager(PROJECT_NAME)
        self.manager.add_hookspecs(Hooks)
        for plugin in plugins:
            self.manager.register(plugin)
        if discover and _offers_plugins():
            self.manager.load_setuptools_entrypoints(PROJECT_NAME)

    def _collect(self, hook: str) -> list[Any]:
        # pluggy calls the newest plugin first; declarations read better oldest first.
        return list(reversed(getattr(self.manager.hook, hook)()))

    @property
    def has_plugins(self) -> bool:
        """Whether anything but what this package brings along is registered."""
        return len(self.manager.get_plugins()) > 1

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """All families, ours first."""
        return (system.FAMILY, *(family for group in self._collect("checks_rules") for family in group))

    @cached_property
    def loaders(self) -> dict[Subject, Loader]:
        """The loader of each kind of subject."""
        return {loader.subject: loader for group in self._collect("checks_subjects") for loader in group}

    @cached_property
    def _comment_readers(self) -> tuple[CommentReader, ...]:
        return tuple(reader for group in self._collect("checks_comments") for reader in group)

    def comment_reader(self, project: Project, path: str) -> CommentReader | None:
        """Return what knows the comments of a file, or None."""
        name = path
        if "." not in path.rpartition("/")[2] and project.is_shell(path):
            name += SHELL_SUFFIXES[0]
        return next((reader for reader in self._comment_readers if reader.matches(name)), None)

    @cached_property
    def presets(self) -> dict[str, Mapping[str, Any]]:
        """All presets by name."""
        return {name: table for group in self._collect("checks_presets") for name, table in group.items()}

    @cached_property
    def backends(self) -> tuple[Any, ...]:
        """The training backends of plugins."""
        return tuple(backend for group in self._collect("checks_backends") for backend in group)

    @cached_property
    def launchers(self) -> dict[str, Any]:
        """The commands of plugins that start programs."""
        return {name: item for group in self._collect("checks_entrypoints") for name, item in group.items()}

    @cached_property
    def rules(self) -> dict[str, type[Rule]]:
        """All rules by code. Raises UsageError when two share a code or a name."""
        seen: dict[str, str] = {}
        for family, rule in iterate_rules(self.families):
            for label in (rule.code, rule.name):
                if label in seen:
                    raise UsageError(
                        f"rule {label} is declared twice: by family {seen[label]} and by {family.name}"
                    )
                seen[label] = family.name
        return {rule.code: rule for _, rule in iterate_rules(self.families)}

    def rules_on(self, subject: Subject) -> list[type[Rule]]:
        """Return the rules that look at subjects of a kind."""
        families = (family for family in self.families if subject in family.subjects)
        return [rule for _, rule in iterate_rules(families) if rule.subject is subject]

    def family(self, name: str) -> Family:
        """Return a family by name. Raises UsageError with the nearest name."""
        for family in self.families:
            if family.name == name:
                return family
        names = [family.name for family in self.families]
        raise UsageError(
            f"unknown rule family {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}"
        )

    def resolve(self, word: str, where: str) -> frozenset[str]:
        """Return the codes that a code, a name, a family or a code prefix stands for. Raises UsageError."""
        if _CODE.fullmatch(word):
            word = word.upper()
        for family in self.families:
            if word in (family.name, family.prefix):
                return frozenset(rule.code for rule in family.rules)
            if word.startswith(family.prefix) and any(rule.code == word for rule in family.rules):
                return frozenset([word])
        labels = {label: rule.code for rule in self.rules.values() for label in (rule.code, rule.name)}
        if word not in labels:
            families = [family.name for family in self.families]
            raise UsageError(f"{where}: unknown rule {word!r}{did_you_mean(word, [*labels, *families])}")
        return frozenset([labels[word]])

    def resolve_all(self, words: Iterable[str], where: str) -> frozenset[str]:
        """Return the union of what the words stand for."""
        return frozenset().union(*(self.resolve(word, where) for word in words))


def _offers_plugins() -> bool:
    """Whether an installed distribution has our entry-point group; importlib.metadata takes 20 times as long to say."""
    folders = {entry or "." for entry in sys.path}
    # pathlib would take as long as what this saves.
    paths = (
        path for folder in folders for path in glob.iglob(f"{glob.escape(folder)}/*.*-info/entry_points.txt")
    )
    return any(_mentions(path, f"[{PROJECT_NAME}]".encode()) for path in paths)


def _mentions(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return text in stream.read()
    except OSError:
        return False
