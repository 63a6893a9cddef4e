"""One thing that a repository asks for: a distribution, in which versions, where it says so, and when that holds."""

from __future__ import annotations

import msgspec
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from example_sanity.core.regex import regex

# What people call a project, and the distribution that it is published as.
_PUBLISHED_AS = {
    "megatron-lm": "megatron-core",
    "mcore": "megatron-core",
    "flash-attention": "flash-attn",
    "torch-vision": "torchvision",
    "torch-audio": "torchaudio",
    "transfer-queue": "transferqueue",
    "te": "transformer-engine",
    "fla": "flash-linear-attention",
}
_COMMIT = regex(r"[0-9a-f]{7,40}")
_AT_COMMIT = regex(r"(?P<name>[A-Za-z][\w.-]*)@<?(?P<reference>[0-9a-f]{7,40})>?")
_EXACT_REFERENCE = regex(r"(?P<name>[A-Za-z][\w.-]*)(?:\[[\w,.-]*\])?===?(?P<reference>[\w./-]+)")


class Place(msgspec.Struct, frozen=True):
    """Where something is asked for: path relative to the root, 1-based line (0: the file as a whole), and the words."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """Return ``path:line``."""
        return f"{self.path}:{self.line}" if self.line else self.path


class Asked(msgspec.Struct, frozen=True):
    """A requirement at its place.

    ``name`` is normalised (PEP 503). ``kind`` says what sort of place it is: requirements, constraints, pyproject,
    setup.py, setup.cfg, overridden (by pyproject.toml), extra, group, image, pin, header. ``source`` is what ``--with`` calls it: a file, or the name of
    an extra or group. ``held`` says whether the environment is held to it, ``present`` whether the distribution has to
    be installed at all. ``reference`` is a commit, branch or address instead of a version: it can be said, not judged; ``guessed``
    says that the name was taken from an address, too.
    ``platform`` is npu, rocm or gpu where it holds only there.
    """

    name: str
    window: SpecifierSet
    place: Place
    kind: str
    source: str
    extras: tuple[str, ...] = ()
    marker: Marker | None = None
    reference: str | None = None
    guessed: bool = False
    held: bool = True
    present: bool = True
    platform: str | None = None


class Parsed(msgspec.Struct, frozen=True):
    """What one requirement says, wherever it stands."""

    name: str
    window: SpecifierSet
    extras: tuple[str, ...] = ()
    marker: Marker | None = None
    reference: str | None = None
    guessed: bool = False

    def at(self, place: Place, kind: str, source: str, **more: bool | str | None) -> Asked:
        """Return the requirement at a place; ``more`` are further fields of :class:`Asked`."""
        return Asked(
            self.name,
            self.window,
            place,
            kind,
            source,
            self.extras,
            self.marker,
            self.reference,
            self.guessed,
            **more,  # type: ignore[arg-type]  # the callers pass fields of Asked
        )


def distribution(name: str) -> str:
    """Return the normalised name of the distribution that people mean by ``name``."""
    plain = canonicalize_name(name)
    return _PUBLISHED_AS.get(plain, plain)


def parse(text: str) -> Parsed | None:
    """Return what a requirement (PEP 508, or ``name==branch``, ``name@<commit>``) says; None where it is none."""
    commit = _AT_COMMIT.fullmatch(text.strip())
    if commit:
        return exactly(commit["name"], commit["reference"])
    try:
        found = Requirement(text)
    except InvalidRequirement:
        return _reference(text.strip())
    return Parsed(
        distribution(found.name), found.specifier, tuple(sorted(found.extras)), found.marker, found.url
    )


def exactly(name: str, version: str) -> Parsed:
    """Return the requirement of one version; a commit or branch becomes a reference."""
    try:
        window = None if _COMMIT.fullmatch(version) else SpecifierSet(f"=={version}")
    except InvalidSpecifier:
        window = None
    if window is None:
        return Parsed(distribution(name), SpecifierSet(), reference=version)
    return Parsed(distribution(name), window)


def _reference(text: str) -> Parsed | None:
    found = _EXACT_REFERENCE.fullmatch(text)
    return exactly(found["name"], found["reference"]) if found else None
