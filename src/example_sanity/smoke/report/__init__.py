"""Reports of smoke runs, one module a format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.smoke.result import SmokeResult

FORMATS = ("text", "json", "junit", "markdown", "html")


def render(results: Sequence[SmokeResult], form: str, *, colour: bool = False) -> str:
    """Return the report of some runs in one of FORMATS; ``colour`` is for the text alone."""
    module = importlib.import_module(f"example_sanity.smoke.report.{form}")
    text: str = module.render(results, colour) if form == "text" else module.render(results)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
