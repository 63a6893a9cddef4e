"""The rule families, one module each, and the plugin that offers them."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from example_sanity.core.registry import Registry, hookimpl
from example_sanity.core.rule import Contents, Family

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from example_sanity.core.comments import CommentReader
    from example_sanity.core.rule import Loader

# name: (prefix, title); the module or package of the same name holds RULES and OPTIONS.
FAMILIES = {
    "naming": ("NAM", "file names of launchers"),
    "ignores": ("IGN", "ignore lists and suppressions that rot"),
    "knobs": ("ENV", "environment variables: grouping, defaults, use"),
    "mesh": ("MSH", "parallel mesh arithmetic and guards"),
    "batch": ("BAT", "batch chain: mini and micro batches, tokens, iterations"),
    "overrides": ("OVR", "Hydra overrides against the configuration"),
    "flags": ("FLG", "command-line flags against the parser of the program"),
    "shell": ("SHL", "shell text: continuations, words, variables, and shellcheck"),
    "docs": ("DOC", "what documents say of scripts, keys, flags and files"),
    "workflows": ("WFL", "CI workflows: path filters, steps, covered launchers"),
    "sources": ("SRC", "licence headers, docstrings, imports, banned words"),
}


def _family(name: str) -> Family:
    def load() -> Contents:
        module = importlib.import_module(f"example_sanity.checks.{name}")
        return Contents(module.RULES, module.OPTIONS)

    return Family(name, *FAMILIES[name], load)


class Builtin:
    """Our own families, loaders and presets, registered like those of any plugin."""

    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        """Return our families."""
        return tuple(_family(name) for name in FAMILIES)

    @hookimpl
    def checks_subjects(self) -> Sequence[Loader]:
        """Return the loaders of scripts, ignore lists, documents, workflows, text files and Python files."""
        from example_sanity.checks.docs import DocumentLoader
        from example_sanity.checks.ignores import EntryLoader
        from example_sanity.checks.workflows import WorkflowLoader
        from example_sanity.core.textfiles import LOADERS as TEXTS
        from example_sanity.launch.loaders import LOADERS

        return (*LOADERS, EntryLoader(), DocumentLoader(), WorkflowLoader(), *TEXTS)

    @hookimpl
    def checks_comments(self) -> Sequence[CommentReader]:
        """Return the readers of comments in shell scripts, Python, YAML and its like, and documents."""
        from example_sanity.core.comments import HashComments, PythonComments
        from example_sanity.core.markup import MarkdownComments, RstComments
        from example_sanity.launch.comments import ShellComments

        return (ShellComments(), PythonComments(), HashComments(), MarkdownComments(), RstComments())

    @hookimpl
    def checks_presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the presets verl, megatron-lm and slime."""
        from example_sanity.checks.presets import PRESETS

        return PRESETS


def registry(plugins: Iterable[object] = (), *, discover: bool = True) -> Registry:
    """Return a registry with our families, ``plugins``, and what installed distributions offer (unless told not to).

    Raises UsageError when a plugin declares a code or a name that another rule has.
    """
    found = Registry([Builtin(), *plugins], discover=discover)
    if found.has_plugins:
        found.rules  # noqa: B018  # two rules of one code are an error, whether or not they run
    _use("example_sanity.launch.launchers", found.launchers)
    _use("example_sanity.parallel.backends", found.backends)
    return found


def _use(module: str, further: Collection[object]) -> None:
    """Hand what plugins add to the module that wants it; it is imported only where there is something."""
    if further or module in sys.modules:
        importlib.import_module(module).use(further)
