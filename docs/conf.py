"""Configuration of the documentation site: ``sphinx-build -W -b html docs docs/_build``."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "example-sanity"
author = "The example-sanity authors"
project_copyright = "2026, The example-sanity authors"
# Read as text: the site is built without the package and its dependencies.
release = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)[0]
version = release

extensions = ["myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

html_theme = "furo"
html_title = f"example-sanity {release}"
