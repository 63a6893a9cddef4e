"""The same overrides at the pinned version of a framework and as it is now: which of both accepts what."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from example_sanity.checks import pins
from example_sanity.checks.importing import source_roots
from example_sanity.checks.overrides.options import OverridesOptions
from example_sanity.checks.overrides.resolving import At
from example_sanity.core.finding import Severity
from example_sanity.schema.hydra import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from example_sanity.checks.overrides.issues import Issue
    from example_sanity.checks.overrides.resolving import Resolved
    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry
    from example_sanity.launch.syntax import Script


class Pinned(NamedTuple):
    """Where to look for the pinned version, how messages call it, and how they call what is there without the pin."""

    at: At
    pin: str
    now: str


def pinned(entry: Entry, resolved: Resolved, script: Script, context: Context) -> Pinned | None:
    """Return the pin of the framework that an entry starts; None where there is none, or it is what is here anyway."""
    package = (entry.module or "").partition(".")[0]
    now = _now(resolved, package, context) if package else None
    if now is None:
        return None
    pin = next((item for item in pins.pins(script, context) if item.package == package), None)
    if pin is None:
        return None
    found = pins.source(pin, context)
    if found is not None:
        here = resolved.home is not None and found.repository.folder == resolved.home
        same = here and found.repository.head == found.commit
        return None if same else Pinned(At(fixed=(found.folder, found.commit)), str(pin), now)
    name = release(pin)
    return Pinned(At(schema=name), str(pin), now) if name and name != resolved.schema else None


def release(pin: pins.Pin) -> str | None:
    """Return the name of the shipped schema of a pinned release."""
    name = f"{pin.package}-{pin.version}"
    return name if pin.version and name in shipped.names() else None


def _now(resolved: Resolved, package: str, context: Context) -> str | None:
    """Say where the program is from; None where that is the project, which no pin speaks of, or configured."""
    if resolved.schema is not None:
        configured = context.options("overrides", OverridesOptions).schema
        return None if configured else resolved.schema
    if resolved.home is None:
        return None
    given = dict(zip(source_roots(context), context.config.source_roots, strict=True))
    if resolved.home in given:
        return given[resolved.home]
    root = context.project.root
    if not resolved.home.is_relative_to(root):
        return "the installed package"
    parts = [path for path in pins.submodules(context) if resolved.home == root / path or path == package]
    return f"the work tree of {parts[0]}" if parts else None


def compared(pin: Sequence[Issue], now: Sequence[Issue], about: Pinned) -> Iterator[Issue]:
    """Yield the issues at the pin, each with whether it is one now, too; then those that the pin does not have."""
    there = {_key(issue) for issue in now}
    for issue in pin:
        both = _key(issue) in there
        where = f"and in {about.now}, too" if both else f"only; not in {about.now}"
        yield replace(issue, message=f"{issue.message} [at the pin {about.pin} {where}]")
    for issue in _without(now, {_key(issue) for issue in pin}):
        message = f"{issue.message} [in {about.now} only; not at the pin {about.pin}]"
        yield replace(issue, message=message, severity=Severity.INFO)


def _key(issue: Issue) -> tuple[str, int | None]:
    return issue.code, issue.setting.word if issue.setting else None


def _without(issues: Iterable[Issue], keys: set[tuple[str, int | None]]) -> list[Issue]:
    return [issue for issue in issues if _key(issue) not in keys]


def told(script: Script, entries: Iterable[Entry], context: Context) -> list[dict[str, str | None]]:
    """Return the pins of the packages that entries start or that a source root holds: which, where, and what they are held to.

    ``against`` is None where nothing of the pinned version is at hand: then nothing is said of it.
    """
    wanted = {(entry.module or "").partition(".")[0] for entry in entries}
    roots = source_roots(context)
    return [
        {"package": pin.package, "reference": pin.reference, "at": pin.at, "against": _against(pin, context)}
        for pin in pins.pins(script, context)
        if pin.package in wanted or any((root / pin.package).is_dir() for root in roots)
    ]


def _against(pin: pins.Pin, context: Context) -> str | None:
    found = pins.source(pin, context)
    if found is not None:
        return f"commit {found.commit[:9]} in {found.repository.folder}"
    name = release(pin)
    return f"the shipped schema {name}" if name else None
