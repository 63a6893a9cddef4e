"""Version windows: whether two of them have a version in common."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

_ORDER = ("===", "==", "~=", ">=", ">", "<=", "<", "!=")


def shown(window: SpecifierSet) -> str:
    """Return a window as people write it: lower end, upper end, exceptions; an exact version makes the rest needless."""
    items = sorted(set(window), key=lambda item: (_ORDER.index(item.operator), item.version))
    exact = [item for item in items if item.operator in {"==", "==="} and not item.version.endswith(".*")]
    return ",".join(f"{item.operator}{item.version.removeprefix('v')}" for item in (exact or items))


def common(first: SpecifierSet, second: SpecifierSet) -> Version | None:
    """Return a version that both windows hold, or None where they are disjoint.

    Windows are unions of intervals whose ends are the versions they name, so it is enough to try each end, and a
    version right above and right below it.
    """
    both = first & second
    candidates = sorted({version for item in both for version in _around(item.version)} | {Version("1")})
    return next((version for version in candidates if both.contains(version, prereleases=True)), None)


def _around(text: str) -> Iterator[Version]:
    try:
        version = Version(text.removesuffix(".*"))
    except InvalidVersion:  # === compares text
        return
    release = list(version.release)
    yield version
    yield _version(version.epoch, release)
    yield _version(version.epoch, [*release, 0, 0, 0, 1])
    yield _version(version.epoch, [*release[:-1], release[-1] + 1])
    while release and release[-1] == 0:
        release.pop()
    if release:
        yield _version(version.epoch, [*release[:-1], release[-1] - 1, 99999])


def _version(epoch: int, release: list[int]) -> Version:
    return Version(f"{epoch}!{'.'.join(map(str, release))}")
