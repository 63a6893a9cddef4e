"""Which project a repository is, by what only that project has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from example_sanity.core.project import Project


class Sign(msgspec.Struct, frozen=True):
    """A file or folder that tells a project from others and from those that merely use it."""

    preset: str
    path: str


# verl: the trainer; Megatron-LM: the core library; slime: the package beside its plugins.
SIGNS = (
    Sign("verl", "verl/trainer/main_ppo.py"),
    Sign("megatron-lm", "megatron/core/__init__.py"),
    Sign("slime", "slime_plugins/__init__.py"),
    Sign("slime", "slime/ray/train_actor.py"),
)


class Detected(msgspec.Struct, frozen=True):
    """What a repository looks like: a preset, and the path that gave it away."""

    preset: str | None
    sign: str | None


def detect(project: Project) -> Detected:
    """Look at the files of a project, not into them."""
    files = frozenset(project.all_files)
    sign = next((item for item in SIGNS if item.path in files), None)
    return Detected(sign.preset, sign.path) if sign else Detected(None, None)
