"""WFL: continuous integration. Filters that match nothing, steps that cannot work, launchers that no job runs."""

from __future__ import annotations

from example_sanity.checks.workflows.loader import WorkflowLoader, WorkflowsOptions

__all__ = ["OPTIONS", "WorkflowLoader", "WorkflowsOptions"]

OPTIONS = WorkflowsOptions


def __getattr__(name: str) -> object:
    """Return ``RULES``, imported when first asked for: every run wants the loader, few want the rules."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from example_sanity.checks.workflows import arguments, failures, files, filters, lists, uncovered

    return (
        *filters.RULES,
        files.MissingJobFile,
        lists.StaleListEntry,
        failures.SwallowedFailure,
        arguments.WrongJobArguments,
        uncovered.UncoveredLauncher,
    )
