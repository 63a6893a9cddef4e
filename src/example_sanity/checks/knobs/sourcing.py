"""The other scripts that matter to a script's variables: those that it sources, those that source or call it."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, cast

from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.project import Project
    from example_sanity.core.rule import Context
    from example_sanity.launch.syntax import CommandSite, Script

_OWN_FOLDER = regex(r"dirname|BASH_SOURCE|\$0|\$\{0|\bpwd\b|\$\{?PWD\b|rev-parse")
# One expansion and then a literal path; substitutions may nest once: $(cd "$(dirname "$0")" && pwd)/env.sh.
_LEADING_EXPANSION = regex(r"(\$\([^()]*(?:\([^()]*\)[^()]*)*\)|\$\{[^{}]*\}|\$\w+)(/[^$`*?\[]*)")
_LITERAL = regex(r"[^$`*?\[~<]+")


def sourced(script: Script, context: Context) -> list[Script] | None:
    """Return the scripts that are sourced, directly or not; None when one of them cannot be told or read."""
    found: dict[str, Script] = {}
    waiting = [script]
    while waiting:
        current = waiting.pop()
        for site in source_sites(current):
            path = _target(site, current, context.project)
            if path is None:
                return None
            if path not in found and path != script.path:
                try:
                    (item,) = context.load(Subject.SCRIPT, path)
                except Uninspectable:
                    return None
                found[path] = cast("Script", item)
                waiting.append(found[path])
    return list(found.values())


def source_sites(script: Script) -> Iterator[CommandSite]:
    """Return the commands that source a file."""
    return (site for site in script.commands if site.name in {"source", "."} and len(site.words) > 1)


def _target(site: CommandSite, script: Script, project: Project) -> str | None:
    """The file of the project that a ``source`` reads, where that can be told."""
    return next((path for path in places_of(site, script) if path in project.all_files), None)


def places_of(site: CommandSite, script: Script) -> tuple[str, ...]:
    """Return where a ``source`` may find its file: from the script's own folder, and from the root.

    Empty where its path is neither literal nor begins at the script's own folder.
    """
    text = site.words[1].text.replace('"', "").replace("'", "")
    led = _LEADING_EXPANSION.fullmatch(text)
    if led and _is_own_folder(led[1], script):
        rest = led[2].lstrip("/")
    elif _LITERAL.fullmatch(text):
        rest = text
    else:
        return ()
    folders = (posixpath.dirname(script.path), "")
    return tuple(posixpath.normpath(posixpath.join(folder, rest)) for folder in folders)


def _is_own_folder(expansion: str, script: Script) -> bool:
    if _OWN_FOLDER.search(expansion):
        return True
    name = re.fullmatch(r"\$\{?(\w+)\}?", expansion)
    values = [a.value for a in script.assignments if name and a.name == name[1]]
    return any(_OWN_FOLDER.search(value) for value in values)


def is_sourced(script: Script, project: Project) -> bool:
    """Return whether another script of the project sources this one, so that its variables live on there."""
    name = re.escape(posixpath.basename(script.path)).encode()
    source = re.compile(rb"(?m)(?:^|[\s;&|])(?:source|\.)[ \t]+\S*" + name)
    return any(source.search(text) for text in _callers(script, project))


def is_passed_by_caller(name: str, script: Script, project: Project) -> bool:
    """Return whether a script or workflow that names this script also mentions the variable, or a README sets it."""
    mention = re.compile(rb"\b" + name.encode() + rb"\b")
    setting = re.compile(rb"(?m)(?:^|[\s`;])" + name.encode() + rb"=")
    called = any(mention.search(text) for text in _callers(script, project))
    return called or any(setting.search(text) for text in _guides(script, project))


def _guides(script: Script, project: Project) -> Iterator[bytes]:
    """The READMEs beside this script and above it that say how to start it."""
    folder, _, name = script.path.rpartition("/")
    for path in (*project.files_named("README.md"), *project.files_named("README.rst")):
        home = posixpath.dirname(path)
        if not home or f"{folder}/".startswith(f"{home}/"):
            project.watch(f"file:{path}")
            text = project.peek(path) or b""
            if name.encode() in text:
                yield text


def _callers(script: Script, project: Project) -> Iterator[bytes]:
    """The contents of the files that name this script."""
    for path in project.callers(script.path):
        project.watch(f"file:{path}")
        yield project.peek(path) or b""
