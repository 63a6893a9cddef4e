"""DOC: what documents say of scripts, keys, flags and files."""

from __future__ import annotations

from example_sanity.checks.docs.options import DocsOptions

OPTIONS = DocsOptions
