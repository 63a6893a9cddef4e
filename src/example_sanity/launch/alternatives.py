"""The named values of knobs that a launcher decides by, apart from each knob's default."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.launch import idioms
from example_sanity.launch.machines import answer_by_default
from example_sanity.launch.reach import History, source_of
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from example_sanity.launch.syntax import Alternative, Assignment, Script

_MAX_HOPS = 20


def deviations(script: Script) -> tuple[tuple[str, str], ...]:
    """Return environment variables and values, in source order, that take a branch named in the script.

    The value that the variable has by default is left out, and so are variables that the environment cannot reach.
    """
    found: dict[tuple[str, str], None] = {}
    history = History(script.assignments)
    # A loop variable or the target of "read" never comes from the environment.
    other_means = script.assigned - {item.name for item in script.assignments}
    for choice in script.alternatives:
        history.advance(choice.start)
        name = _settable(choice, history)
        if name is not None and choice.name not in other_means:
            default = default_value(choice.name, history, choice.default)
            others = (value for value in choice.values if value != default and re.search(r"\w", value))
            found.update(dict.fromkeys((name, value) for value in others))
    return tuple(found)


def _settable(choice: Alternative, history: History) -> str | None:
    """Return the environment variable that decides a choice; None where the script decides it alone."""
    behind = history.reach.of(choice.name)
    if behind is None or not behind.isidentifier():
        return None
    own = [item for item in history.of(choice.name) if not _optional(item)]
    fixed = bool(own) and all(item.kind is DefaultKind.FIXED for item in own)
    return None if fixed and behind == choice.name else behind


def _optional(item: Assignment) -> bool:
    """Whether an assignment leaves the way open: it builds on its own name, or is one of a loop over arguments."""
    from_arguments = item.conditional and item.function is None and any(name.isdigit() for name in item.reads)
    builds_on_itself = item.kind is DefaultKind.FIXED and item.name in item.reads
    return from_arguments or builds_on_itself


def default_value(name: str, history: History, inline: str | None = None) -> str | None:
    """Return the text that a variable has when the environment sets nothing; None where that is not plain to see."""
    for _ in range(_MAX_HOPS):
        own = history.of(name)
        item = next((each for each in reversed(own) if not each.conditional), None)
        if item is None:
            return None if own else inline or ""
        word = (item.default if item.kind is DefaultKind.OVERRIDABLE else item.value) or ""
        copied = source_of(word)
        if copied is None or copied == name:
            return _literal(word)
        name, inline = copied, None
    return None


def _literal(word: str) -> str | None:
    nested = idioms.default_of(word.encode("utf-8", "surrogateescape"))
    if nested is not None and nested.operator.endswith("-"):
        return _literal(nested.word)
    probed = answer_by_default(word)
    if probed is not None:
        return probed
    return None if re.search(r"[$`]", word) else idioms.unquote(word)
