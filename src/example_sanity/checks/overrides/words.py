"""Judges override words as text: malformed ones, lists that the shell split, sweeps, placeholders, contradictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.overrides.issues import Issue
from example_sanity.checks.overrides.values import placeholder
from example_sanity.core.finding import Severity
from example_sanity.launch.hydra_functions import Sweep
from example_sanity.launch.hydra_override import NO_EQUALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.core.finding import Span
    from example_sanity.launch.settings import Setting
    from example_sanity.launch.syntax import Script


def sound(settings: Sequence[Setting], script: Script, multirun: bool) -> tuple[list[Setting], list[Issue]]:
    """Return the overrides that Hydra can read, and what is wrong with the others."""
    overrides = [item for item in settings if item.style == "hydra"]
    issues: list[Issue] = []
    good: list[Setting] = []
    skip = 0
    for place, item in enumerate(overrides):
        if skip:
            skip -= 1
            continue
        if item.error is not None:
            pieces = _pieces(overrides[place:])
            issues.append(_malformed(item, overrides[place : place + pieces]))
            skip = pieces - 1
        elif isinstance(item.value, Sweep) and not multirun:
            issues.append(_sweep(item))
        else:
            good.append(item)
            left = placeholder(item)
            if left:
                message = f"{item.key} still holds the placeholder {left}"
                issues.append(Issue("OVR011", item, message, Severity.WARNING))
    return good, [*issues, *_contradictions(good, script)]


def _pieces(rest: Sequence[Setting]) -> int:
    """Return how many words in a row are one value that the shell split: as many as it takes to close its brackets."""
    text = rest[0].raw
    if text.count("[") + text.count("{") <= text.count("]") + text.count("}"):
        return 1
    for count, item in enumerate(rest[1:], 2):
        if item.error is None or item.word != rest[count - 2].word + 1:
            return 1
        text += item.raw
        if text.count("[") + text.count("{") == text.count("]") + text.count("}"):
            return count
    return 1


def _malformed(item: Setting, pieces: Sequence[Setting]) -> Issue:
    if not item.stable:
        return Issue("OVR018", item, f"Hydra may not read this override: {item.error}", Severity.INFO)
    if len(pieces) > 1:
        whole = " ".join([f"{item.key}={item.raw}", *(piece.raw for piece in pieces[1:])])
        message = f"the shell splits this list into {len(pieces)} words: quote the override, '{whole}'"
        return Issue("OVR015", item, message)
    left = placeholder(item)
    if left:
        return Issue(
            "OVR011", item, f"{item.key} still holds the placeholder {left}, which Hydra cannot read"
        )
    if item.error == NO_EQUALS:
        return Issue("OVR018", item, _bare(item.raw))
    return Issue("OVR018", item, f"Hydra cannot read {item.key}={item.raw}: {item.error}")


def _bare(word: str) -> str:
    if word and not word.strip():
        return "Hydra cannot read a word of white space; end the line before it with the backslash, no space behind it"
    return f"Hydra cannot read {word or 'an empty word'}: {NO_EQUALS}; write KEY=VALUE, or leave it out"


def _sweep(item: Setting) -> Issue:
    message = (
        f"{item.key}={item.raw} asks for several runs, which Hydra does only with --multirun; "
        f"for a list write {item.key}=[{item.raw}]"
    )
    return Issue("OVR018", item, message)


def _contradictions(good: Sequence[Setting], script: Script) -> list[Issue]:
    """Keys that are set to different values in one place. What one array says and a later one changes is meant."""
    last: dict[str, Setting] = {}
    issues = []
    for item in good:
        before = last.get(item.key)
        last[item.key] = item
        if before is None or "delete" in (item.operation, before.operation):
            continue
        if before.value == item.value or not (before.stable and item.stable):
            continue
        if _together(before, item, script):
            message = (
                f"{item.key} is set twice: {before.raw or 'an empty value'} in line {before.origin.span.line} "
                f"does not count, {item.raw or 'an empty value'} does"
            )
            issues.append(Issue("OVR010", item, message, Severity.WARNING))
    return issues


def _together(one: Setting, other: Setting, script: Script) -> bool:
    """Whether two words stand in the same array literal, or in the same command."""
    if not (one.origin.exact and other.origin.exact and one.origin.path == other.origin.path == script.path):
        return False
    return one.origin.span != other.origin.span and _holder(one, script) == _holder(other, script) is not None


def _holder(item: Setting, script: Script) -> Span | None:
    """Return the innermost array literal or command that a word stands in."""
    start = (item.origin.span.line, item.origin.span.column)
    spans = [holder.span for holder in script.arrays] + [holder.span for holder in script.commands]
    around = [span for span in spans if (span.line, span.column) <= start < (span.end_line, span.end_column)]
    return max(around, default=None)
