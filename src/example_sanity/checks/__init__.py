"""The rule families, one module each, and the plugin that offers them."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from example_sanity.core.registry import Registry, hookimpl
from example_sanity.core.rule import Contents, Family, Subject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import msgspec

    from example_sanity.core.comments import CommentReader
    from example_sanity.core.rule import Loader

_LAUNCH, _SCRIPT = Subject.LAUNCH, Subject.SCRIPT
# name: (prefix, title, the subjects of its rules), which is all that is known of a family before it is imported.
# The module or package of the same name holds OPTIONS, and RULES: a package in its module ``family``.
FAMILIES = {
    "naming": ("NAM", "file names of launchers", (Subject.SCRIPT_PATH, Subject.DEFAULT_LAUNCH)),
    "ignores": (
        "IGN",
        "ignore lists and suppressions that rot",
        (Subject.CONFIG_ENTRY, Subject.SUPPRESSION, Subject.STALE_BASELINE),
    ),
    "knobs": ("ENV", "environment variables: grouping, defaults, use", (_SCRIPT,)),
    "mesh": ("MSH", "parallel mesh arithmetic and guards", (_LAUNCH,)),
    "batch": ("BAT", "batch chain: mini and micro batches, tokens, iterations", (_LAUNCH,)),
    "overrides": ("OVR", "Hydra overrides against the configuration", (_LAUNCH,)),
    "flags": ("FLG", "command-line flags against the parser of the program", (_LAUNCH,)),
    "shell": ("SHL", "shell text: continuations, words, variables, and shellcheck", (_SCRIPT, _LAUNCH)),
    "docs": (
        "DOC",
        "what documents say of scripts, keys, flags and files",
        (Subject.DOCUMENT, Subject.PROJECT),
    ),
    "workflows": (
        "WFL",
        "CI workflows: path filters, steps, covered launchers",
        (Subject.WORKFLOW, Subject.PROJECT),
    ),
    "sources": (
        "SRC",
        "licence headers, docstrings, imports, banned words",
        (Subject.TEXT, Subject.PYTHON_SOURCE, Subject.PULL_REQUEST, Subject.PROJECT),
    ),
}


def _family(name: str) -> Family:
    prefix, title, subjects = FAMILIES[name]
    module = f"example_sanity.checks.{name}"

    def options() -> type[msgspec.Struct]:
        found: type[msgspec.Struct] = importlib.import_module(module).OPTIONS
        return found

    def load() -> Contents:
        home = importlib.import_module(module)
        rules = importlib.import_module(f"{module}.family") if hasattr(home, "__path__") else home
        return Contents(rules.RULES, home.OPTIONS)

    return Family(name, prefix, title, load, subjects, options)


class Builtin:
    """Our own families, loaders and presets, registered like those of any plugin."""

    @hookimpl
    def checks_rules(self) -> Sequence[Family]:
        """Return our families."""
        return tuple(_family(name) for name in FAMILIES)

    @hookimpl
    def checks_subjects(self) -> Sequence[Loader]:
        """Return the loaders of scripts, ignore lists, documents, workflows, text files and Python files."""
        from example_sanity.checks.docs.loader import DocumentLoader
        from example_sanity.checks.ignores.loader import EntryLoader
        from example_sanity.checks.workflows.loader import WorkflowLoader
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
