"""Why a configuration cannot be had: a module, a folder or a search path that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.launch.settings import Setting
    from example_sanity.schema.hydra.roots import Roots


class Trouble(msgspec.Struct, frozen=True):
    """Why there is no tree: the code of the rule that says so, the message, and the setting to point at, if any."""

    code: str
    message: str
    setting: Setting | None = None


def missing_module(module: str, roots: Roots) -> Trouble:
    """Say that a package has no such module."""
    top = roots.top(module)
    assert top is not None
    folder = top.joinpath(*module.split(".")[:-1])
    while not folder.is_dir() and folder != top:
        folder = folder.parent
    names = [
        path.relative_to(top).with_suffix("").as_posix().replace("/", ".") for path in folder.glob("*.py")
    ]
    return Trouble(
        "OVR006", f"there is no module {module} in {roots.shown(folder)}{did_you_mean(module, names)}"
    )


def check_folder(folder: str, name: str, roots: Roots, flags: Mapping[str, Setting]) -> list[Trouble]:
    """Return what is wrong with the primary configuration."""
    path = roots.folder(folder.removeprefix("pkg://").replace("/", ".")) if "://" in folder else Path(folder)
    if path is None or not path.is_dir():
        shown = folder if path is None else roots.shown(path)
        return [Trouble("OVR007", f"the configuration folder {shown} does not exist", flags.get("path"))]
    if (path / f"{name}.yaml").is_file():
        return []
    further = flags.get("further")
    if further and (roots.folders[0] / further.raw / f"{name}.yaml").is_file():
        return []
    names = [item.stem for item in path.glob("*.yaml")]
    suggestion = did_you_mean(name, names)
    message = f"there is no configuration {name}.yaml in {roots.shown(path)}{suggestion}"
    return [Trouble("OVR007", message, flags.get("name"))]


def check_search(path: str, roots: Roots, place: Setting | None) -> list[Trouble]:
    """Return what is wrong with one entry of ``hydra.searchpath``: Hydra itself only warns and goes on without it."""
    if path.startswith("pkg://"):
        name = path.removeprefix("pkg://").strip("/").replace("/", ".")
        if roots.top(name) is None:
            return [not_found(name, place)]
        folder = roots.folder(name)
    else:
        folder = roots.folders[0] / path.removeprefix("file://")
        if folder.is_absolute() and not folder.is_relative_to(roots.folders[0]):
            return [] if folder.is_dir() else [Trouble("OVR017", f"{path} is not on this machine", place)]
    if folder is None or not folder.is_dir():
        return [Trouble("OVR016", f"the search path {path} does not exist: Hydra goes on without it", place)]
    if not any(folder.rglob("*.yaml")):
        return [Trouble("OVR016", f"the search path {path} holds no configuration", place)]
    return []


def not_found(name: str, place: Setting | None) -> Trouble:
    """Say that a package was found nowhere."""
    top = name.partition(".")[0]
    message = (
        f"package {top} is neither in the project, in source-roots, installed, nor among the shipped schemas: "
        "the overrides are not checked"
    )
    return Trouble("OVR017", message, place)
