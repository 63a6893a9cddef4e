"""Fake environments for the tests of the doctor: folders that look like what pip leaves behind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def virtual_environment(folder: Path, version: str = "3.12.4") -> Path:
    """Make an empty virtual environment without an interpreter and return it."""
    site(folder, version).mkdir(parents=True, exist_ok=True)
    (folder / "pyvenv.cfg").write_text(f"home = /nowhere/bin\nversion = {version}\n")
    return folder


def site(folder: Path, version: str = "3.12.4") -> Path:
    """Return the site-packages of a virtual environment."""
    return folder / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"


def install(
    packages: Path,
    name: str,
    version: str,
    *,
    files: Sequence[str] | None = None,
    requires: Sequence[str] = (),
    extras: Sequence[str] = (),
    direct: Mapping[str, object] | None = None,
) -> None:
    """Write a distribution into a site-packages folder; by default it provides a package of its own name."""
    module = name.replace("-", "_")
    inside = [f"{module}/__init__.py"] if files is None else list(files)
    info = packages / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {text}" for text in requires]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in [*inside, f"{info.name}/METADATA"]))
    if direct is not None:
        (info / "direct_url.json").write_text(json.dumps(direct))
    for path in inside:
        (packages / path).parent.mkdir(parents=True, exist_ok=True)
        (packages / path).write_text("")
