"""The named values of knobs that a launcher decides by, apart from each knob's default."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.launch import idioms
from example_sanity.launch.machines import answer_by_default
from example_sanity.launch.reach import Reach, source_of
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.launch.syntax import Alternative, Assignment, Script

_MAX_HOPS = 20


def deviations(script: Script) -> tuple[tuple[str, str], ...]:
    """Return environment variables and values, in source order, that take a branch named in the script.

    The value that the variable has by default is left out, and so are variables that the environment cannot reach.
    """
    found: dict[tuple[str, str], None] = {}
    reach = Reach()
    pending = list(script.assignments)
    for choice in script.alternatives:
        while pending and pending[0].start < choice.start:
            reach.note(pending.pop(0))
        before = script.assignments[: len(script.assignments) - len(pending)]
        name = _settable(choice, before, reach, script)
        if name is not None:
            default = default_value(choice.name, before, choice.default)
            found.update(
                dict.fromkeys(
                    (name, value) for value in choice.values if value != default and re.search(r"\w", value)
                )
            )
    return tuple(found)


def _settable(choice: Alternative, before: Sequence[Assignment], reach: Reach, script: Script) -> str | None:
    """Return the environment variable that decides a choice; None where the script decides it alone."""
    behind = reach.of(choice.name)
    if behind is None or not behind.isidentifier():
        return None
    named = {item.name for item in script.assignments}
    if choice.name in script.assigned - named:
        return None
    own = [item for item in before if item.name == choice.name and not _optional(item)]
    fixed = bool(own) and all(item.kind is DefaultKind.FIXED for item in own)
    return None if fixed and behind == choice.name else behind


def _optional(item: Assignment) -> bool:
    """Whether an assignment leaves the way open: it builds on its own name, or is one of a loop over arguments."""
    from_arguments = item.conditional and item.function is None and any(name.isdigit() for name in item.reads)
    builds_on_itself = item.kind is DefaultKind.FIXED and item.name in item.reads
    return from_arguments or builds_on_itself


def default_value(name: str, before: Sequence[Assignment], inline: str | None = None) -> str | None:
    """Return the text that a variable has when the environment sets nothing; None where that is not plain to see."""
    for _ in range(_MAX_HOPS):
        item = next((each for each in reversed(before) if each.name == name and not each.conditional), None)
        if item is None:
            conditional = any(each.name == name for each in before)
            return None if conditional else inline or ""
        word = item.default if item.kind is DefaultKind.OVERRIDABLE else item.value
        copied = source_of(word or "")
        if copied is None:
            return _literal(word or "")
        name, before = copied, before[: before.index(item)]
    return None


def _literal(word: str) -> str | None:
    nested = idioms.default_of(word.encode("utf-8", "surrogateescape"))
    if nested is not None and nested.operator.endswith("-"):
        return _literal(nested.word)
    probed = answer_by_default(word)
    if probed is not None:
        return probed
    return None if re.search(r"[$`]", word) else idioms.unquote(word)
