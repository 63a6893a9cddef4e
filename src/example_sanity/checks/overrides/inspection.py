"""What the rules of the family share: every entry of a launch resolved and checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from example_sanity.checks.importing import forwards
from example_sanity.checks.overrides import dotlist
from example_sanity.checks.overrides.flat import Check
from example_sanity.checks.overrides.issues import Issue
from example_sanity.checks.overrides.pinning import compared, pinned
from example_sanity.checks.overrides.resolving import Resolved, is_multirun, prints_only, resolver
from example_sanity.checks.overrides.words import sound
from example_sanity.core.finding import Severity
from example_sanity.launch.settings import Settings, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.core.rule import Context
    from example_sanity.launch.command import Entry, Launch
    from example_sanity.launch.syntax import Script


class Inspected(msgspec.Struct, frozen=True):
    """An entry, what is wrong with its overrides, and the files that this depends on."""

    entry: Entry
    issues: Sequence[Issue]
    inputs: frozenset[str]


def inspect(launch: Launch, context: Context) -> Sequence[Inspected]:
    """Return the entries of a launch, each checked once a run."""
    # With the launch in it, so that no other one gets its id.
    found: tuple[Launch, Sequence[Inspected]] = context.once(
        f"overrides of launch {id(launch)}", lambda: (launch, _inspected(launch, context))
    )
    return found[1]


def _inspected(launch: Launch, context: Context) -> Sequence[Inspected]:
    found = [_entry(entry, launch.script, context) for entry in launch.entries]
    for item in found:
        _watch(item, context)
    return found


def _watch(item: Inspected, context: Context) -> None:
    # Which files there are decides where a package is found.
    context.project.folders  # noqa: B018
    root = str(context.project.root) + "/"
    for path in sorted(item.inputs):
        context.project.watch(f"file:{path.removeprefix(root)}")


def _entry(entry: Entry, script: Script, context: Context) -> Inspected:
    given = settings(entry)
    found = resolver(context)
    resolved = found.resolve(entry, given)
    now = _issues(entry, given, resolved, script)
    inputs = _inputs(resolved)
    about = pinned(entry, resolved, script, context)
    if about is None:
        return Inspected(entry, now, inputs)
    then = found.resolve(entry, given, about.at)
    if then.tree is None and not then.troubles:
        return Inspected(entry, now, inputs)
    issues = list(compared(_issues(entry, given, then, script), now, about))
    return Inspected(entry, issues, inputs | _inputs(then))


def _inputs(resolved: Resolved) -> frozenset[str]:
    return frozenset(resolved.inputs | (resolved.tree.inputs if resolved.tree else frozenset()))


def _issues(entry: Entry, given: Settings, resolved: Resolved, script: Script) -> list[Issue]:
    issues = [Issue(item.code, item.setting, item.message) for item in resolved.troubles]
    multirun = is_multirun(entry)
    if resolved.tree is not None:
        found = Check(resolved.tree, given.items, script, multirun, complete=not prints_only(given)).run()
        issues += [_softened(issue) if forwards(script) else issue for issue in found]
    elif resolved.dotlist is not None:
        issues += dotlist.check(resolved.dotlist, given.items)
    elif issues:
        # The keys are not known, but the words are Hydra's all the same.
        issues += sound(given.items, script, multirun)[1]
    return issues


def _softened(issue: Issue) -> Issue:
    """Return an issue as a warning where the caller of the script may set what is missing."""
    if issue.code != "OVR020":
        return issue
    return replace(issue, message=f'{issue.message} (or the caller\'s "$@" does)', severity=Severity.WARNING)
