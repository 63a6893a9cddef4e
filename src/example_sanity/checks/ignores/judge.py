"""What is true of an ignore entry: whether it is stale, covered by another, or no longer needed."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from example_sanity.checks.ignores.loader import IgnoresOptions
from example_sanity.core.errors import Uninspectable, nearest
from example_sanity.core.exemptions import Effect, Entry, Syntax
from example_sanity.core.patterns import literal, names_something, predicate, samples
from example_sanity.core.rule import Subject
from example_sanity.core.trace import GIT_RULES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context, Rule

# What git said of some paths, kept as long as the project that it was asked for.
_IGNORED: WeakKeyDictionary[Project, dict[tuple[str, ...], bool]] = WeakKeyDictionary()


def broken(entry: Entry) -> str | None:
    """Return why the pattern cannot be read, or None."""
    try:
        predicate(entry.whole, entry.syntax)
    except (re.error, ValueError) as error:
        return str(error)
    return None


def is_stale(entry: Entry, context: Context) -> bool:
    """Whether the entry names no file, and none that comes and goes."""
    if broken(entry):
        return True
    return not entry.match(context.project.all_files) and not _may_match_later(entry, context)


def _may_match_later(entry: Entry, context: Context) -> bool:
    if entry.syntax is Syntax.MODULE:
        return not _is_own_module(entry, context.project)
    # An exemption is for findings that are there; what it may once suppress would be exempt unseen.
    if entry.effect is Effect.SUPPRESSES:
        return False
    if not names_something(entry.whole, entry.syntax) and entry.effect is not Effect.ASSIGNS:
        return True
    named = literal(entry.whole, entry.syntax)
    invented = (named,) if named else samples(entry.whole, entry.syntax)
    paths = [
        f"{base}/{path}".lstrip("/")
        for base in entry.bases
        for path in (*invented, trunk(entry.pattern))
        if path
    ]
    return _comes_and_goes(paths, context)


def trunk(pattern: str) -> str:
    """Return the folders that a pattern begins with, bare of anchors and escapes; empty where there are none."""
    words = re.sub(r"\\(.)", r"\1", pattern.lstrip("^!/"))
    found = re.match(r"(?:\./)?((?:[\w.@+-]+/)*[\w.@+-]+)(?=$|/)", words)
    return found[1] if found else ""


def _comes_and_goes(paths: Sequence[str], context: Context) -> bool:
    context.project.watch(GIT_RULES)
    transient = context.options("ignores", IgnoresOptions).transient
    parts = {part for path in paths for part in path.split("/")}
    if any(fnmatch.fnmatchcase(part, name) for part in parts for name in transient):
        return True
    # A submodule that is not checked out is an empty folder, and git lists nothing in it.
    submodules = _submodules(context.project)
    if any(
        f"{path}/".startswith(f"{module}/") or module.startswith(f"{path}/")
        for path in paths
        for module in submodules
    ):
        return True
    if any((context.project.root / path).is_file() for path in paths):
        return True
    return _ignored_by_git(
        context.project, tuple(item for path in paths for item in (path, path.rstrip("/") + "/"))
    )


def _submodules(project: Project) -> list[str]:
    if ".gitmodules" not in project.all_files:
        return []
    return re.findall(r"^\s*path\s*=\s*(.+?)\s*$", project.text(".gitmodules"), re.MULTILINE)


def _ignored_by_git(project: Project, paths: tuple[str, ...]) -> bool:
    known = _IGNORED.setdefault(project, {})
    if paths not in known:
        known[paths] = _ask_git(project.root, paths)
    return known[paths]


def _ask_git(root: Path, paths: Sequence[str]) -> bool:
    command = ["git", "check-ignore", "--no-index", "--", *paths]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _is_own_module(entry: Entry, project: Project) -> bool:
    """Whether the top package of a module pattern is a regular package of this repository that lacks the module."""
    top, _, rest = entry.pattern.partition(".")
    if not top.isidentifier() or not rest:
        return False
    folders = [f"{base}/{top}".lstrip("/") for base in entry.bases]
    ours = [folder for folder in folders if f"{folder}/__init__.py" in project.all_files]
    named = literal(entry.pattern, Syntax.MODULE)
    # Without __init__.py it may be a namespace that an installed distribution shares (megatron), or a data folder.
    if not ours or named is None:
        return False
    below = [f"{base}/{named}".lstrip("/") for base in entry.bases]
    return not any(path in project.folders for path in below) and not _ignored_by_git(
        project, tuple(f"{path}{end}" for path in below for end in (".py", ".pyi", ".so", "/"))
    )


def missing_folder(entry: Entry, project: Project) -> str | None:
    """Return the folder that a stale entry with wildcards looks in, when there is no such folder."""
    folder = trunk(entry.pattern)
    there = any(f"{base}/{folder}".lstrip("/") in project.folders for base in entry.bases)
    return None if there or literal(entry.pattern, entry.syntax) else folder or None


def moved_to(named: str, entry: Entry, project: Project) -> str | None:
    """Return the path that a missing one probably stands for: the same name elsewhere, else nearly the same path."""
    base = entry.bases[0] and entry.bases[0] + "/"
    known = [path[len(base) :] for path in (*project.all_files, *project.folders) if path.startswith(base)]
    name = named.rpartition("/")[2]
    same = [path for path in known if path.rpartition("/")[2] == name]
    # A name that stands once in the repository is the file itself, however far it went.
    if len(same) == 1:
        return same[0]
    return nearest(named, same or known, 80 if same else 88)


def covering(entry: Entry, context: Context) -> Entry | None:
    """Return another entry of the same list that makes this one superfluous.

    Of two that say the same, the second is superfluous. Where the last match wins, an entry is superfluous when a
    later one covers it.
    """
    same = [other for other in _entries(entry, context) if other.group == entry.group]
    if any(other.is_negated for other in same):
        return None  # the order then decides, and a repetition may be meant
    place = same.index(entry)
    files = context.project.all_files
    readable = [(number, other) for number, other in enumerate(same) if other != entry and not broken(other)]
    for number, other in readable:
        later = number > place
        first_wins = entry.effect is not Effect.ASSIGNS
        # Of two that say the same only one is superfluous.
        if other.covers(entry, files) and (
            later is not first_wins or (first_wins and not entry.covers(other, files))
        ):
            return other
    return None


def says_the_same(one: Entry, two: Entry) -> bool:
    """Whether two entries differ in nothing but their place and reason."""
    return (one.pattern, one.expression, one.rules, one.values) == (
        two.pattern,
        two.expression,
        two.rules,
        two.values,
    )


def _entries(entry: Entry, context: Context) -> list[Entry]:
    loaded = context.load(Subject.CONFIG_ENTRY, entry.path)
    return [other for other in loaded if isinstance(other, Entry)]


def is_needed(entry: Entry, context: Context) -> bool:
    """Whether a rule of the entry has a finding in a file that it names, or one of them cannot be judged."""
    rules = _rules(entry, context)
    if not all(_is_judged_by_file(rule) for rule in rules):
        return True
    files = entry.match(context.project.all_files)
    return any(_fails(rule, path, context) for rule in rules for path in files)


def _rules(entry: Entry, context: Context) -> list[type[Rule]]:
    """The rules of the entry, those that are quick to judge first."""
    order = list(Subject)
    rules = [context.registry.rules[code] for code in sorted(entry.rules)]
    return sorted(rules, key=lambda rule: order.index(rule.subject))


def _is_judged_by_file(rule: type[Rule]) -> bool:
    """Whether a rule can be asked about one file. Those on ignore entries would ask this question in turn."""
    is_other = rule.subject in (Subject.PROJECT, Subject.CONFIG_ENTRY)
    return not is_other and not rule.code.startswith("SYS")


def _fails(rule: type[Rule], path: str, context: Context) -> bool:
    try:
        return bool(context.apply(rule, path))
    except Uninspectable:
        return True


def judged_files(entry: Entry, context: Context) -> list[str]:
    """Return the files of the entry that its rules look at."""
    subjects = {rule.subject for rule in _rules(entry, context)}
    loaders = [loader for subject, loader in context.registry.loaders.items() if subject in subjects]
    files = entry.match(context.project.all_files)
    return [path for path in files if any(loader.matches(context, path) for loader in loaders)]
