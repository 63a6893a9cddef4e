"""The command ``init``: write a configuration after a look at the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from example_sanity import checks
from example_sanity.core.config import load, parse_toml
from example_sanity.core.detection import Detected, detect
from example_sanity.core.errors import ExitCode, UsageError, did_you_mean
from example_sanity.core.files import write_atomically
from example_sanity.core.project import CONFIG_NAMES, Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from example_sanity.core.registry import Registry

_TABLE = "tool.example-sanity"


def init(root: Path | None, preset: str | None, target: str | None) -> int:
    """Write the configuration. Raises UsageError for an unknown preset, one that is there, or a file that cannot be."""
    folder = (root or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"no such folder: {root}")
    registry = checks.registry()
    if preset is not None and preset not in registry.presets:
        known = ", ".join(sorted(registry.presets))
        raise UsageError(
            f"unknown preset {preset!r}{did_you_mean(preset, registry.presets)}; there are: {known}"
        )
    _refuse_second(folder)
    path = folder / (
        target or ("pyproject.toml" if (folder / "pyproject.toml").is_file() else CONFIG_NAMES[0])
    )
    found = detect(Project(folder))
    name = preset or found.preset
    conventions = registry.presets[name] if name else None
    text = "\n".join(_lines(name, conventions, header=path.name == "pyproject.toml")) + "\n"
    done = f"added [{_TABLE}] to" if path.exists() else "wrote"
    _write(path, text)
    _validate(path, folder, registry)
    click.echo(f"{done} {path.name}: {_what(found, preset)}")
    click.echo(
        "next: example-sanity check; what is there already can be accepted with: example-sanity baseline"
    )
    return ExitCode.CLEAN


def _refuse_second(folder: Path) -> None:
    """Raise UsageError when the project has a configuration of ours, in either file."""
    for name in CONFIG_NAMES:
        try:
            data = parse_toml((folder / name).read_text("utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {name}: {error}") from error
        if name != "pyproject.toml" or "example-sanity" in data.get("tool", {}):
            raise UsageError(f"{name} has a configuration already; edit it, or delete it first")


def _write(path: Path, text: str) -> None:
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else ""
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        added = gap + text
        new = before + (added.replace("\n", "\r\n") if _is_crlf(before) else added)
        write_atomically(path.resolve(), new.encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _is_crlf(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


def _validate(path: Path, folder: Path, registry: Registry) -> None:
    # What we wrote must be what we read.
    load(folder, registry.families, registry.presets, file=path)


def _what(found: Detected, preset: str | None) -> str:
    if preset:
        return f"preset {preset}"
    if found.preset:
        return f"preset {found.preset}, as there is {found.sign}"
    return "no project whose conventions are known"


def _lines(name: str | None, conventions: Mapping[str, Any] | None, header: bool) -> Iterator[str]:
    """Yield the configuration. A list replaces that of the preset, so what the preset leaves out is written out."""
    prefix = f"{_TABLE}." if header else ""
    if header:
        yield f"[{_TABLE}]"
    if name:
        yield f"# The conventions of {name}: names of launchers, ignore lists, knobs. Whatever is set below wins."
        yield f"preset = {json.dumps(name)}"
    else:
        yield "# Conventions to start from: verl, megatron-lm or slime."
        yield '# preset = "verl"'
    yield "# Files that nobody should look at, as in .gitignore."
    yield f"exclude = {_list(conventions, 'exclude')}"
    yield "# Rules that do not hold in this repository: codes, names or families (example-sanity rules)."
    if conventions is not None:
        yield f"ignore = {_list(conventions, 'ignore')}"
    else:
        yield "# The names of launchers follow verl's convention, run_<model>_<backend>.sh; to adopt it, delete this."
        yield 'ignore = ["naming"]'
    yield "# The severity from which a finding fails the run: error, warning or info."
    yield 'fail-on = "error"'
    yield ""
    yield "# A rule that cannot hold in some files, and why:"
    yield f"# [[{prefix}per-file-ignore]]"
    yield '# path = "examples/archive/"'
    yield '# rules = ["naming"]'
    yield '# reason = "kept as it was published"'


def _list(conventions: Mapping[str, Any] | None, key: str) -> str:
    return json.dumps((conventions or {}).get(key, []))
