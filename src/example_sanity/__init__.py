"""Lint and sanity checks for repositories that ship LLM-training launch scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from example_sanity.api import check
    from example_sanity.core.errors import UsageError
    from example_sanity.core.finding import Finding, Severity
    from example_sanity.core.registry import hookimpl
    from example_sanity.core.rule import Contents, Example, Family, Rule, Subject
    from example_sanity.core.runner import Report

__version__ = "0.1.0"
__all__ = [
    "Contents",
    "Example",
    "Family",
    "Finding",
    "Report",
    "Rule",
    "Severity",
    "Subject",
    "UsageError",
    "__version__",
    "check",
    "hookimpl",
]

_HOMES = {
    "api": ("check",),
    "core.errors": ("UsageError",),
    "core.finding": ("Finding", "Severity"),
    "core.registry": ("hookimpl",),
    "core.rule": ("Contents", "Example", "Family", "Rule", "Subject"),
    "core.runner": ("Report",),
}


def __getattr__(name: str) -> Any:
    # Start-up time: who asks for the version, or only has the pytest plugin installed, needs none of these.
    import importlib

    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
