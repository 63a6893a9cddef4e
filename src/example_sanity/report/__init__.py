"""One module per output format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from example_sanity.report.model import View

FORMATS = (
    "text",
    "concise",
    "json",
    "github",
    "gitlab",
    "junit",
    "sarif",
    "rdjson",
    "markdown",
    "html",
)


def render(view: View, form: str) -> str:
    """Return the report in one of FORMATS; only that format's module is imported.

    The text can always be encoded: bytes of a file name that are not UTF-8 become ``\\udc..`` escapes.
    """
    module = importlib.import_module(f"example_sanity.report.{form}")
    text: str = module.render(view)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
