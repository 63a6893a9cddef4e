"""What a Dockerfile installs: ``pip install`` lines, and the versions in ARG and ENV."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from example_sanity.core.regex import regex
from example_sanity.doctor.asked import Asked, Place, distribution, exactly
from example_sanity.doctor.files import logical_lines, pip_words

_DOCKERFILE = regex(r"(?:.*[._-])?(?:Docker|Container)file(?:[._-].*)?", re.IGNORECASE)
_ASSIGNED = regex(r"(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|\S*)")
_VARIABLE = regex(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_PIP = regex(r"\bpip[\d.]*\s+install\s+(?P<words>.*)", re.DOTALL)
_CLONE = regex(r"\bgit\s+clone\b.*?(?P<address>(?:https?://|git@|ssh://)[^\s'\"]+)")
_CD = regex(r"^\s*cd\s+(?P<folder>[^\s$]+)")
_CHECKOUT = regex(r"\bgit\s+(?:checkout|reset\s+--hard)\s+(?P<reference>v?[0-9][\w.]*|[0-9a-f]{7,40})\s*$")
_SEPARATOR = regex(r"&&|\|\||;|\|")
_VERSION_OF = regex(r"(?P<name>\w+?)_(?:IMAGE_)?(?:VERSION|TAG|COMMIT|REF|REVISION|BRANCH)(?:_OR_\w+)?")
_TAG = regex(r"(?P<version>v?\d+(?:\.\d+)+(?:\.?(?:post|rc|a|b|dev)\d+)?)(?:-.*)?")


def is_dockerfile(path: str) -> bool:
    """Return whether the file describes an image."""
    name = posixpath.basename(path)
    return bool(_DOCKERFILE.fullmatch(name)) and not name.endswith(
        (".sh", ".md", ".rst", ".py", ".dockerignore")
    )


def image(path: str, text: str, known: Collection[str], *, held: bool) -> Iterator[Asked]:
    """Yield the versions that an image gets. None of it has to be present: an image holds more than a run needs.

    An ARG or ENV counts where it names one of the ``known`` distributions, and no ``pip install`` line says the same.
    """
    values: dict[str, str] = {}
    arguments: list[Asked] = []
    checked_out: list[Asked] = []
    installed: set[str] = set()
    for line in logical_lines(_without_comments(text)):
        instruction, _, rest = line.text.strip().partition(" ")
        if instruction.upper() in {"ARG", "ENV"}:
            given = _assignments(rest, values)
            values.update(given)
            for name, value in given.items():
                arguments += _argument(name, value, Place(path, line.number, line.text.strip()), known, held)
        elif instruction.upper() == "RUN":
            commands = [_filled(text, values) for text in _SEPARATOR.split(rest)]
            found = [item for text in commands for item in _installed(text, path, line.number, held)]
            installed.update(item.name for item in found)
            yield from found
            checked_out += _checked_out(commands, path, line.number, held)
    # An ARG before the checkout that uses it: that is where the pin is changed.
    yield from (item for item in (*arguments, *checked_out) if item.name not in installed)


def _without_comments(text: str) -> str:
    # A comment inside a continued RUN does not end it; an empty continuation keeps the numbers of the lines.
    return "\n".join("\\" if line.lstrip().startswith("#") else line for line in text.splitlines())


def _assignments(text: str, values: Mapping[str, str]) -> dict[str, str]:
    return {found["name"]: _filled(found["value"].strip("\"'"), values) for found in _ASSIGNED.finditer(text)}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with known variables filled in; unknown ones stay, and what holds one is left out later."""
    return _VARIABLE.sub(lambda found: values.get(found["braced"] or found["plain"], found[0]), text)


def _checked_out(commands: Collection[str], path: str, number: int, held: bool) -> Iterator[Asked]:
    """Yield the repositories that an instruction clones and then puts at one commit or release."""
    clones: set[str] = set()
    here = ""
    for command in commands:
        clone, inside, checkout = (pattern.search(command) for pattern in (_CLONE, _CD, _CHECKOUT))
        if clone:
            here = posixpath.basename(clone["address"].rstrip("/")).removesuffix(".git")
            clones.add(here)
        elif inside:
            here = posixpath.basename(inside["folder"].strip("\"'").rstrip("/"))
        elif checkout and here in clones:
            tag = _TAG.fullmatch(checkout["reference"])
            item = exactly(distribution(here), tag["version"] if tag else checkout["reference"])
            place = Place(path, number, f"{here}: {command.strip()}")
            yield item.at(place, "image", path, held=held, present=False)


def _installed(command: str, path: str, number: int, held: bool) -> Iterator[Asked]:
    pip = _PIP.search(command)
    for item in pip_words(pip["words"]) if pip else ():
        yield item.at(
            Place(path, number, f"pip install {_said(item.name, item.window, item.reference)}"),
            "image",
            path,
            held=held,
            present=False,
        )


def _said(name: str, window: object, reference: str | None) -> str:
    return f"{name} @ {reference}" if reference else f"{name}{window}"


def _argument(name: str, value: str, place: Place, known: Collection[str], held: bool) -> Iterator[Asked]:
    of = _VERSION_OF.fullmatch(name)
    wanted = distribution(of["name"]) if of else None
    if wanted in known and wanted and value and "$" not in value:
        tag = _TAG.fullmatch(value)
        found = exactly(wanted, tag["version"] if tag else value)
        yield found.at(place, "image", place.path, held=held, present=False)
