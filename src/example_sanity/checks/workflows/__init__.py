"""WFL: continuous integration. Filters that match nothing, steps that cannot work, launchers that no job runs."""

from __future__ import annotations

from example_sanity.checks.workflows.loader import WorkflowsOptions

OPTIONS = WorkflowsOptions
