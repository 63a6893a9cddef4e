"""The rules of the family workflows, in the order of their codes."""

from __future__ import annotations

from example_sanity.checks.workflows import arguments, failures, files, filters, lists, uncovered

RULES = (
    *filters.RULES,
    files.MissingJobFile,
    lists.StaleListEntry,
    failures.SwallowedFailure,
    arguments.WrongJobArguments,
    uncovered.UncoveredLauncher,
)
