"""One module per output format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from example_sanity.report.model import View

FORMATS = ("text", "concise", "json")


def render(view: View, form: str) -> str:
    """Return the report in one of FORMATS; only that format's module is imported."""
    module = importlib.import_module(f"example_sanity.report.{form}")
    text: str = module.render(view)
    return text
