"""The languages in which ignore lists name files: what each pattern matches, and examples of what it would match."""

from __future__ import annotations

import enum
import fnmatch
import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from example_sanity.core.gitignore import matcher
from example_sanity.core.regex import regex

Predicate = Callable[[str], bool]

_PARTS = regex(r"\*\*/|/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|\\.|.", re.DOTALL)


class Syntax(str, enum.Enum):
    """How an entry names files."""

    PATH = "path"  # a file, or a folder and all below it, relative to the root
    GLOB = "glob"  # fnmatch over the whole path; * crosses slashes
    GITIGNORE = "gitignore"  # as in .gitignore
    REGEX = "regex"  # re.search over the path, as in pre-commit
    FOLDER_REGEX = "folder regex"  # re.search over the path or any folder of it with its slash, as in mypy
    RUFF = "ruff"  # globset over a path or any folder of it; without a slash also over the last part
    RUFF_FILE = "ruff file"  # the same, over files only: per-file-ignores
    CODEOWNERS = "codeowners"  # gitignore, but "docs/*" does not descend
    MODULE = "module"  # a dotted Python module; .* names it and all below it

    @property
    def is_regex(self) -> bool:
        """Whether patterns are regular expressions."""
        return self in (Syntax.REGEX, Syntax.FOLDER_REGEX)


@lru_cache(maxsize=2048)
def predicate(pattern: str, syntax: Syntax) -> Predicate:
    """Return a function that says whether a path is named by ``pattern``. Raises re.error for a broken one."""
    return _COMPILERS[syntax](pattern)


def _path(pattern: str) -> Predicate:
    bare = _bare(pattern)
    inside = bare + "/"
    if bare in ("", "."):
        return lambda path: True
    return lambda path: path == bare or path.startswith(inside)


def _glob(pattern: str) -> Predicate:
    match = re.compile(fnmatch.translate(pattern)).match
    return lambda path: match(path) is not None


def _gitignore(pattern: str) -> Predicate:
    return matcher([pattern.removeprefix("!")])


def _search(pattern: str) -> Callable[[str], re.Match[str] | None]:
    with warnings.catch_warnings():
        # What a later Python may read differently is no concern of whoever runs this one.
        warnings.simplefilter("ignore")
        return re.compile(pattern).search


def _regex(pattern: str) -> Predicate:
    search = _search(pattern)
    return lambda path: search(path) is not None


def _folder_regex(pattern: str) -> Predicate:
    # mypy asks about each folder before it looks into it, so "^docs/$" leaves out all that is below.
    search = _search(pattern)
    folders = _with_folders(lambda folder: search(folder + "/") is not None)
    return lambda path: search(path) is not None or folders(path)


def _with_folders(match: Predicate) -> Predicate:
    """Whether ``match`` holds for a folder that the path lies in; each folder is asked once."""
    known: dict[str, bool] = {"": False}

    def inside(path: str) -> bool:
        folder = path.rpartition("/")[0]
        if folder not in known:
            known[folder] = inside(folder) or match(folder)
        return known[folder]

    return inside


def _ruff(pattern: str) -> Predicate:
    match = _ruff_file(pattern)
    folders = _with_folders(match)
    return lambda path: match(path) or folders(path)


def _ruff_file(pattern: str) -> Predicate:
    negated = pattern.startswith("!")
    bare = pattern.removeprefix("!")
    # A trailing slash is no part of a path, except where it keeps a name from being that of a file.
    whole = re.compile(_globset(bare.removeprefix("./").rstrip("/"))).fullmatch
    last = None if "/" in bare else whole

    def match(path: str) -> bool:
        name = path.rpartition("/")[2]
        return (whole(path) is not None or (last is not None and last(name) is not None)) is not negated

    return match


def _globset(pattern: str) -> str:
    """A glob of the globset library, whose ``*`` and ``?`` cross slashes, as a regular expression."""
    return "".join(_globset_part(part) for part in _PARTS.findall(pattern))


def _globset_part(part: str) -> str:
    if part.startswith("{") and len(part) > 1:
        return "(?:" + "|".join(_globset(choice) for choice in part[1:-1].split(",")) + ")"
    if part.startswith("[") and len(part) > 1:
        return "[" + ("^" + part[2:] if part[1] == "!" else part[1:])
    fixed = {"**/": "(?:.*/)?", "/**": "/.*", "?": "."}
    if part in fixed:
        return fixed[part]
    return ".*" if part.startswith("*") else re.escape(part[1:] if part.startswith("\\") else part)


def _codeowners(pattern: str) -> Predicate:
    body = pattern.strip("/")
    anchored = "/" in pattern.rstrip("/")
    fixed = {"**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]"}
    parts = [
        fixed.get(part) or ("[^/]*" if part.startswith("*") else re.escape(part.removeprefix("\\")))
        for part in re.findall(r"\*\*/|/\*\*$|\*+|\\.|.", body)
    ]
    # GitHub: unlike in .gitignore, "docs/*" owns the files of docs and nothing in its folders.
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    match = re.compile(("" if anchored else "(?:.*/)?") + "".join(parts) + below, re.DOTALL).fullmatch
    return lambda path: match(path) is not None


def _module(pattern: str) -> Predicate:
    parts = pattern.split(".")
    stem = "".join(rf"/{re.escape(part)}" if part != "*" else r"(?:/[^/]+)*" for part in parts)
    match = re.compile(rf"{stem.removeprefix('/')}(?:\.pyi?|/__init__\.pyi?)").fullmatch
    return lambda path: match(path) is not None


_COMPILERS: dict[Syntax, Callable[[str], Predicate]] = {
    Syntax.PATH: _path,
    Syntax.GLOB: _glob,
    Syntax.GITIGNORE: _gitignore,
    Syntax.REGEX: _regex,
    Syntax.FOLDER_REGEX: _folder_regex,
    Syntax.RUFF: _ruff,
    Syntax.RUFF_FILE: _ruff_file,
    Syntax.CODEOWNERS: _codeowners,
    Syntax.MODULE: _module,
}


def literal(pattern: str, syntax: Syntax) -> str | None:
    """Return the one path that a pattern without wildcards names, or None where it has some."""
    text = _plain_regex(pattern) if syntax.is_regex else pattern.removeprefix("!")
    if syntax is Syntax.MODULE:
        text = text.removesuffix(".*").replace(".", "/")
    return None if re.search(r"[*?\[\]{}()|+^$\\]", text) else _bare(text)


@lru_cache(maxsize=2048)
def samples(pattern: str, syntax: Syntax) -> tuple[str, ...]:
    """Return invented paths that a pattern matches: its wildcards filled in, files at it and below it.

    Empty where the pattern is too involved to invent one. Each was checked against the pattern.
    """
    text = _plain_regex(pattern) if syntax.is_regex else pattern.removeprefix("!")
    if syntax is Syntax.MODULE:
        text = text.replace(".", "/")
    stems = {start + _bare(_fill(text, deep)) for deep in ("", "q1/q2/") for start in ("", "q3/q4/")}
    ends = ("", ".py", "/q0", "/q1/q2.py", "/__init__.py", "/")
    match = predicate(pattern, syntax)
    return tuple(sorted(stem + end for stem in stems for end in ends if match(stem + end)))


def _fill(text: str, deep: str) -> str:
    """Replace wildcards by names; ``deep`` stands for the folders of a ``**/``."""
    text = re.sub(r"\*\*/", deep, text)
    return re.sub(r"\[\^/\][*+]|\.[*+]|\*+", "q0", text).replace("?", "q")


def _plain_regex(pattern: str) -> str:
    """A regular expression without flags, anchors and groups that hold one thing, its punctuation bare."""
    flags = re.match(r"\s*\(\?([a-zA-Z]+)\)", pattern)
    text = pattern[flags.end() :] if flags else pattern
    if flags and "x" in flags[1]:
        text = re.sub(r"\s+", "", text)
    text = re.sub(r"\((?:\?:)?([^()|]*)\)", r"\1", text.strip())
    text = re.sub(r"^(?:\^|\.[*+]|\(\^\|/\))+", "", text)
    text = re.sub(r"(?:(?<!\\)\$|\.[*+])+$", "", text)
    return re.sub(r"\\([./_-])", r"\1", text)


def _bare(pattern: str) -> str:
    return pattern.removeprefix("./").strip("/")


def names_something(pattern: str, syntax: Syntax) -> bool:
    """Whether a pattern names a file or folder, rather than a kind of file such as ``*.ipynb`` or ``*_test.py``."""
    if syntax.is_regex:
        text = _plain_regex(pattern)
        return bool(re.search(r"[\w-]/|/[\w-]", text) or re.fullmatch(r"[A-Za-z0-9][\w.-]+", text))
    return any(part and not re.search(r"[*?\[{]", part) for part in pattern.split("/"))
