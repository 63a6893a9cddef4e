"""What a Dockerfile installs: ``pip install`` lines, and the versions in ARG and ENV."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from example_sanity.doctor.asked import Asked, Place, distribution, exactly
from example_sanity.doctor.files import logical_lines, pip_words

_DOCKERFILE = re.compile(r"(?:.*[._-])?(?:Docker|Container)file(?:[._-].*)?", re.IGNORECASE)
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|\S*)")
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_PIP = re.compile(r"\bpip[\d.]*\s+install\s+(?P<words>.*)", re.DOTALL)
_SEPARATOR = re.compile(r"&&|\|\||;|\|")
_VERSION_OF = re.compile(r"(?P<name>\w+?)_(?:IMAGE_)?(?:VERSION|TAG|COMMIT|REF|REVISION|BRANCH)(?:_OR_\w+)?")
_TAG = re.compile(r"(?P<version>v?\d+(?:\.\d+)+(?:\.?(?:post|rc|a|b|dev)\d+)?)(?:-.*)?")


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
    installed: set[str] = set()
    for line in logical_lines(_without_comments(text)):
        instruction, _, rest = line.text.strip().partition(" ")
        if instruction.upper() in {"ARG", "ENV"}:
            given = _assignments(rest, values)
            values.update(given)
            for name, value in given.items():
                arguments += _argument(name, value, Place(path, line.number, line.text.strip()), known, held)
        elif instruction.upper() == "RUN":
            for command in _SEPARATOR.split(rest):
                for item in _installed(command, values, path, line.number, held):
                    installed.add(item.name)
                    yield item
    yield from (item for item in arguments if item.name not in installed)


def _without_comments(text: str) -> str:
    # A comment inside a continued RUN does not end it; an empty continuation keeps the numbers of the lines.
    return "\n".join("\\" if line.lstrip().startswith("#") else line for line in text.splitlines())


def _assignments(text: str, values: Mapping[str, str]) -> dict[str, str]:
    return {found["name"]: _filled(found["value"].strip("\"'"), values) for found in _ASSIGNED.finditer(text)}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with known variables filled in; unknown ones stay, and what holds one is left out later."""
    return _VARIABLE.sub(lambda found: values.get(found["braced"] or found["plain"], found[0]), text)


def _installed(
    command: str, values: Mapping[str, str], path: str, number: int, held: bool
) -> Iterator[Asked]:
    pip = _PIP.search(_filled(command, values))
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
