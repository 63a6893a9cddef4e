"""SRC: licence headers, docstrings, banned words, the layout of tests, imports, generated files, pull requests."""

from __future__ import annotations

from example_sanity.checks.sources.options import SourcesOptions

OPTIONS = SourcesOptions
