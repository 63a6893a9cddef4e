"""What the configuration lacks once all overrides are applied: mandatory values, fields without default, referenced keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.overrides.issues import Issue
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.checks.overrides.state import State
    from example_sanity.launch.settings import Setting

_REFERENCE = regex(r"\$\{(\.*)([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")
_NESTED = regex(r"\$\{[^}]*\$\{")  # what it refers to depends on another value
_SWITCHES = ("enable", "enabled")


def lacking(state: State, settings: Sequence[Setting], built: Sequence[str]) -> Iterator[Issue]:
    """Yield an issue for each mandatory value, each field and each reference that leads nowhere.

    ``built`` are the nodes that the program turns into objects of a class.
    """
    given = {item.key: item for item in settings}
    yield from _mandatory(state)
    yield from _fields(state, built)
    yield from _references(state, given)


def _mandatory(state: State) -> Iterator[Issue]:
    for key, leaf in state.keys.items():
        if leaf.value == "???" and not key.startswith("hydra.") and not _is_off(key, state):
            place = f" ({leaf.where})" if leaf.where else ""
            message = (
                f"{key} has no value{place}, and the launcher sets none: the program stops where it reads it; "
                f"add {key}=..."
            )
            yield Issue("OVR020", None, message)


def _fields(state: State, built: Sequence[str]) -> Iterator[Issue]:
    for node in built:
        if node not in state.keys or _is_off(f"{node}.", state):
            continue
        missing = [name for name in state.needed.get(node, ()) if f"{node}.{name}" not in state.keys]
        if missing:
            added = " ".join(f"+{node}.{name}=..." for name in missing)
            message = f"{node} becomes an object whose class needs {' and '.join(missing)}: its construction fails; add {added}"
            yield Issue("OVR020", None, message)


def _is_off(key: str, state: State) -> bool:
    """Whether a switch beside a key, or beside a node around it, is off: then nothing reads the key."""
    parts = key.split(".")
    nodes = [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    switches = (state.keys.get(f"{node}.{name}") for node in nodes for name in _SWITCHES)
    return any(leaf is not None and leaf.value is False for leaf in switches)


def _references(state: State, given: Mapping[str, Setting]) -> Iterator[Issue]:
    for key, leaf in state.keys.items():
        if not isinstance(leaf.value, str) or "${" not in leaf.value or key.startswith("hydra."):
            continue
        if _NESTED.search(leaf.value):
            continue
        for dots, name in _REFERENCE.findall(leaf.value):
            target = _absolute(key, dots, name)
            if target is None or _may_exist(target, state):
                continue
            setting = given.get(key)
            if setting is not None and not setting.stable:
                continue
            place = f" ({leaf.where})" if leaf.where and setting is None else ""
            message = f"{key} refers to {target}{place}, and there is no such key: reading it fails"
            # What the launcher does not touch may be a part that nobody reads.
            severity = None if setting is not None or target in state.dropped else Severity.WARNING
            yield Issue("OVR019", setting or state.dropped.get(target), message, severity)


def _absolute(key: str, dots: str, name: str) -> str | None:
    """Return the whole key that a reference means; one dot is the node that holds the key."""
    if not dots:
        return name
    parts = key.split(".")
    if len(dots) > len(parts):
        return None
    return ".".join([*parts[: len(parts) - len(dots)], name])


def _may_exist(target: str, state: State) -> bool:
    """Whether a key is there, or lies in something whose inside is not known: a list, or a value that is a reference."""
    if target in state.keys or target == "hydra" or target.startswith("hydra."):
        return True
    parts = target.split(".")
    around = (state.keys.get(".".join(parts[:count])) for count in range(len(parts) - 1, 0, -1))
    holder = next((leaf for leaf in around if leaf is not None), None)
    return holder is not None and not isinstance(holder.value, dict)
