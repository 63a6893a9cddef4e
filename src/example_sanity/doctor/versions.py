"""Judge what is installed against the versions that are asked for."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Iterable, Sequence

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from example_sanity.doctor.asked import Asked, parse
from example_sanity.doctor.environment import Distribution, Environment
from example_sanity.doctor.findings import Kind, Statement, Verdict, mismatch, note
from example_sanity.doctor.windows import common, shown

_DEFAULT_OF_SCM = {(0,), (0, 0), (0, 0, 0), (0, 1)}


class Status(enum.Enum):
    """How one distribution stands."""

    OK = "ok"
    MISSING = "missing"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"
    ABSENT = "absent"  # not installed, and nothing says that it has to be


class Row(msgspec.Struct, frozen=True):
    """All that holds here for one distribution, and how it stands. ``refused`` are the requirements it does not meet."""

    name: str
    asked: tuple[Asked, ...]
    installed: Distribution | None
    status: Status
    refused: tuple[Asked, ...] = ()


def applies(item: Asked, environment: Environment) -> bool:
    """Return whether a requirement holds in the environment: its marker, and the platform that it is for."""
    if item.platform not in (None, environment.platform) and not (
        item.platform == "gpu" and environment.platform == "rocm"
    ):
        return False
    return item.marker is None or item.marker.evaluate({**environment.markers, "extra": ""})


def rows(asked: Iterable[Asked], environment: Environment) -> list[Row]:
    """Return how each distribution stands that the environment is held to, by name."""
    grouped: dict[str, list[Asked]] = {}
    for item in asked:
        if item.held and applies(item, environment):
            grouped.setdefault(item.name, []).append(item)
    return [_row(name, tuple(grouped[name]), environment) for name in sorted(grouped)]


def _row(name: str, asked: tuple[Asked, ...], environment: Environment) -> Row:
    installed = environment.distributions.get(name)
    if installed is None:
        present = [item for item in asked if item.present]
        guessed = all(item.guessed for item in present)
        status = Status.ABSENT if not present else Status.UNKNOWN if guessed else Status.MISSING
        return Row(name, asked, None, status)
    judged = [(item, meets(installed.version, item.window)) for item in _binding(asked)]
    refused = tuple(item for item, verdict in judged if verdict is False and not _alternative(item, judged))
    unknown = any(verdict is None for _, verdict in judged) or any(
        item.reference for item in _outranking(asked)
    )
    status = Status.OUTSIDE if refused else Status.UNKNOWN if unknown else Status.OK
    return Row(name, asked, installed, status, refused)


def _binding(asked: Sequence[Asked]) -> list[Asked]:
    """The requirements that name a version. An image only counts where nothing else does: it is one that was tried."""
    return _outranking([item for item in asked if item.window])


def _outranking(asked: Sequence[Asked]) -> list[Asked]:
    return [item for item in asked if item.kind != "image"] or list(asked)


def _alternative(item: Asked, judged: Sequence[tuple[Asked, bool | None]]) -> bool:
    """Whether the same comment or image also names a version that fits: several set-ups stand side by side there."""
    return item.kind in {"header", "image"} and any(
        verdict and other.place.path == item.place.path for other, verdict in judged
    )


def meets(version: str, window: SpecifierSet) -> bool | None:
    """Return whether a version is in a window; None for a local build whose version does not say.

    Such are versions that are none (PEP 440), development versions of a release that would fit, and 0.0 or 0.1.dev1,
    which setuptools-scm makes up where it finds no tag.
    """
    try:
        known = Version(version)
    except InvalidVersion:
        return None
    if window.contains(known, prereleases=True):
        return True
    if known.is_devrelease or known.local:
        made_up = known.release in _DEFAULT_OF_SCM
        fits = known.is_devrelease and window.contains(known.base_version, prereleases=True)
        return None if made_up or fits else False
    return None if known.release in {(0,), (0, 0), (0, 0, 0)} else False


def verdict(found: Iterable[Row]) -> Verdict:
    """Return what there is to say about rows: mismatches with a way to fix them, and what could not be judged."""
    total = Verdict()
    for row in found:
        if row.status is Status.MISSING:
            total += mismatch(_missing(row))
        elif row.status is Status.OUTSIDE:
            total += mismatch(_outside(row))
        elif row.status is Status.UNKNOWN:
            total += note(_unknown(row))
    return total


def _missing(row: Row) -> Statement:
    wanted = [item for item in row.asked if item.present]
    return Statement(
        Kind.MISSING,
        row.name,
        f"{row.name} is not installed{_asked_words(wanted)}",
        tuple(item.place for item in wanted),
        install(row.name, wanted),
    )


def _outside(row: Row) -> Statement:
    assert row.installed is not None
    windows = list(dict.fromkeys(shown(item.window) for item in row.refused))
    return Statement(
        Kind.OUTSIDE,
        row.name,
        f"{row.name} {row.installed.version} is installed, outside {' and '.join(windows)}",
        tuple(item.place for item in row.refused),
        install(row.name, _binding(row.asked)),
    )


def _unknown(row: Row) -> Statement:
    here = _described(row.installed) if row.installed else "nothing of that name is installed"
    asked = _outranking(row.asked)
    references = list(dict.fromkeys(item.reference for item in asked if item.reference))
    wanted = " and ".join(references or dict.fromkeys(shown(item.window) for item in asked if item.window))
    places = tuple(item.place for item in asked if item.reference or not references)
    return Statement(Kind.UNKNOWN, row.name, f"{row.name}: {wanted} is asked for, {here}", places)


def _described(item: Distribution) -> str:
    if item.checkout:
        return f"{item.version} is installed, from the checkout {item.checkout}"
    return f"{item.version} is installed" + (f", built from {item.built_from}" if item.built_from else "")


def _asked_words(wanted: Sequence[Asked]) -> str:
    windows = list(dict.fromkeys(shown(item.window) for item in wanted if item.window))
    return f", {' and '.join(windows)} is asked for" if windows else ""


def install(name: str, wanted: Sequence[Asked]) -> str | None:
    """Return the command that installs what all of ``wanted`` accept; None where they accept nothing in common."""
    window = SpecifierSet()
    for item in wanted:
        if common(window, item.window) is None:
            return None
        window &= item.window
    address = next((item.reference for item in wanted if item.reference and "://" in item.reference), None)
    extras = sorted({extra for item in wanted for extra in item.extras})
    full = f"{name}[{','.join(extras)}]" if extras else name
    return f"pip install {shlex.quote(f'{full} @ {address}' if address else f'{full}{shown(window)}')}"


def missing_of_extras(row: Row, environment: Environment) -> Verdict:
    """Return what the extras that are asked for (``ray[default]``) lack: distributions, or versions of them."""
    total = Verdict()
    if row.installed is None or row.status is Status.OUTSIDE:
        return total
    for extra in sorted({extra for item in row.asked for extra in item.extras}):
        places = tuple(item.place for item in row.asked if extra in item.extras)
        full = f"{row.name}[{extra}]"
        if extra not in row.installed.extras:
            words = f"{row.name} {row.installed.version} has no extra {extra}"
            total += note(Statement(Kind.UNKNOWN, full, words, places))
            continue
        lacking = [text for text in row.installed.requires if _lacks(text, extra, environment)]
        if lacking:
            words = (
                f"{full} is asked for, and of that extra is not installed: {', '.join(map(_short, lacking))}"
            )
            total += mismatch(Statement(Kind.EXTRA, full, words, places, f"pip install {shlex.quote(full)}"))
    return total


def _short(text: str) -> str:
    return text.partition(";")[0].strip()


def _lacks(text: str, extra: str, environment: Environment) -> bool:
    """Whether a requirement comes in with an extra, and is not met."""
    found = parse(text)
    if found is None or found.marker is None:
        return False
    if found.marker.evaluate({**environment.markers, "extra": ""}):
        return False  # needed without the extra, too: not of the extra
    if not found.marker.evaluate({**environment.markers, "extra": extra}):
        return False
    installed = environment.distributions.get(found.name)
    return installed is None or meets(installed.version, found.window) is False
