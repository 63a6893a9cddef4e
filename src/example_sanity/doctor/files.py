"""Requirements files, constraints files, and files that pin a sibling project (REQUIRED_VERL.txt)."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet

from example_sanity.core.regex import regex
from example_sanity.doctor.asked import Asked, Parsed, Place, distribution, exactly, parse

Read = Callable[[str], "str | None"]
_COMMENT = regex(r"(?:^|\s)#.*")
_INCLUDED = regex(r"(?:-r|--requirement|-c|--constraint)(?:\s+|=)(?P<path>\S+)")
_PIN_FILE = regex(r"REQUIRED_(?P<name>\w+)\.txt", re.IGNORECASE)
_PIN_LINE = regex(r"(?P<key>commit|version|tag|revision)\s*[:=]\s*(?P<value>[\w./-]+)", re.IGNORECASE)
_ADDRESS = regex(r"(?:git\+)?(?:https?|ssh|git|file)://\S+")
_WITH_VALUE = regex(
    r"-[rcefitp]|--(?:requirement|constraint|editable|find-links|index-url|extra-index-url|index|target|prefix|root|src"
    r"|platform|python|python-version|trusted-host|progress-bar|timeout|config-settings|global-option|no-binary"
    r"|only-binary|cache-dir|upgrade-strategy|group)"
)


class Line(msgspec.Struct, frozen=True):
    """A logical line: where it starts (1-based), and its text with continuations joined."""

    number: int
    text: str


def logical_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a text, those that end in a backslash joined with the next."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        start = start or number
        if line.rstrip().endswith("\\"):
            parts.append(line.rstrip()[:-1])
            continue
        yield Line(start, " ".join([*parts, line]))
        start, parts = 0, []
    if parts:
        yield Line(start, " ".join(parts))


def requirements(path: str, read: Read, *, held: bool, seen: frozenset[str] = frozenset()) -> Iterator[Asked]:
    """Yield what a requirements file asks for, the files that it includes among it.

    What a constraints file names need not be installed. A file that cannot be read asks for nothing.
    """
    text = read(path)
    if text is None or path in seen:
        return
    for line in logical_lines(text):
        words = _COMMENT.sub("", line.text).strip()
        included = _INCLUDED.fullmatch(words)
        if included:
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), included["path"]))
            for item in requirements(inner, read, held=held, seen=seen | {path}):
                yield constraint(item) if words.startswith(("-c", "--c")) else item
        elif words and not words.startswith("-"):
            found = parse(words.partition(" --")[0].strip())
            if found:
                yield found.at(Place(path, line.number, words), "requirements", path, held=held)


def constraint(item: Asked) -> Asked:
    """Return the requirement as a constraint: it limits the version of what is installed anyway."""
    return replace(item, kind="constraints", present=False)


def pinned(path: str, read: Read, *, held: bool) -> Iterator[Asked]:
    """Yield the sibling project that a REQUIRED_<NAME>.txt pins: as a requirement, or as ``Commit: …`` and the like."""
    name = _PIN_FILE.fullmatch(posixpath.basename(path))
    text = read(path)
    if name is None or text is None:
        return
    lines = text.splitlines()
    wanted = distribution(name["name"])
    for number, line in enumerate(lines, 1):
        found = parse(_COMMENT.sub("", line).strip())
        # Prose of one word is a legal requirement, too.
        if found and (found.name == wanted or found.reference or str(found.window)):
            yield found.at(Place(path, number, line.strip()), "pin", path, held=held)
            return
    for number, line in enumerate(lines, 1):
        pin = _PIN_LINE.match(line.strip())
        if pin:
            yield exactly(wanted, pin["value"]).at(Place(path, number, line.strip()), "pin", path, held=held)
            return


def is_pin_file(path: str) -> bool:
    """Return whether the file pins a sibling project by its name."""
    return bool(_PIN_FILE.fullmatch(posixpath.basename(path)))


def pip_words(text: str) -> list[Parsed]:
    """Return what the words after ``pip install`` ask for; options, paths and files are left out."""
    try:
        words = shlex.split(_COMMENT.sub("", text))
    except ValueError:
        words = text.split()
    found: list[Parsed | None] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = bool(_WITH_VALUE.fullmatch(word))
        elif _ADDRESS.match(word):
            found.append(_address(word))
        elif "$" not in word and not word.startswith((".", "/")) and "/" not in word.partition("@")[0]:
            found.append(parse(word))
    return [item for item in found if item]


def _address(word: str) -> Parsed | None:
    """A distribution installed from an address: its name is a guess, so it is said and never judged."""
    plain, _, fragment = word.partition("#")
    egg = re.search(r"egg=([\w.-]+)", fragment)
    last = plain.rstrip("/").rpartition("/")[2].partition("@")[0]
    if last.endswith(".whl"):
        last = last.partition("-")[0]
    name = egg[1] if egg else last.removesuffix(".git")
    found = parse(name)
    return Parsed(found.name, SpecifierSet(), reference=plain, guessed=not egg) if found else None
