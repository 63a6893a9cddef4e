"""Which model a smoke run trains: a tiny one of the launcher's family, a checkpoint of the user's, or one made of flags."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from example_sanity.parallel.models import ModelFacts, from_config
from example_sanity.smoke import families
from example_sanity.smoke.checkpoints.configs import CONFIGS
from example_sanity.smoke.checkpoints.store import location
from example_sanity.smoke.steering import Refusal

if TYPE_CHECKING:
    from example_sanity.smoke.trial import Trial

OF_FLAGS = "flags"


class Model(msgspec.Struct, frozen=True):
    """The model of a run. ``given`` is the user's own checkpoint; without one, a tiny one of ``family`` is made."""

    family: str
    given: Path | None = None

    def config(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return what ``config.json`` of the tiny model says; nothing where none is made."""
        return CONFIGS[self.family](sizes) if self._made else {}

    def facts(self, sizes: Mapping[str, int]) -> ModelFacts | None:
        """Return the facts of the model with these sizes, or None where they are not known."""
        if self._made:
            return from_config(self.config(sizes), self.family, "the tiny checkpoint")
        try:
            path = self.given / "config.json" if self.given else None
            return from_config(json.loads(path.read_text("utf-8")), str(self.given)) if path else None
        except (OSError, ValueError):
            return None

    def place(self, folder: Path, config: dict[str, Any]) -> Path:
        """Return where its checkpoint lies, or will."""
        return self.given or location(folder, self.family, config)

    @property
    def _made(self) -> bool:
        return self.given is None and self.family != OF_FLAGS


def choose(
    trial: Trial, keys: Sequence[str], wanted: str | None, pinned: Collection[str], known: Collection[str]
) -> Model:
    """Return the model of a launch whose settings ``keys`` name it.

    ``wanted`` is the family that the user names, ``pinned`` are the settings and variables that the user has decided,
    ``known`` the families that will do. Raises Refusal where no family is told, or another one.
    """
    named = [setting for key in keys if (setting := trial.given.get(key)) is not None]
    for setting in named:
        if not set(pinned).isdisjoint((setting.key, *setting.origin.knobs)):
            return Model(wanted or families.named(setting.raw) or "given", Path(setting.raw))
    family = wanted or families.first_named(_hints(trial, keys))
    if family in known:
        return Model(str(family))
    shown = ", ".join(setting.raw for setting in named if not _made_up(trial, setting.raw)) or "a model"
    raise Refusal(
        f"{trial.launch.script.path} trains {shown}, of no family that a tiny checkpoint is made of "
        f"({', '.join(known)}); choose one with --family, or a checkpoint with --set"
    )


def _hints(trial: Trial, keys: Sequence[str]) -> Iterator[str]:
    """Yield what may name the model: its path; where that is left to the user, the experiment and the file."""
    paths = [text for key in keys if (text := trial.text(key)) is not None and not _made_up(trial, text)]
    if paths:
        yield from paths
        return
    experiment = trial.text("trainer.experiment_name")
    if experiment is not None:
        yield experiment
    yield trial.launch.script.path


def _made_up(trial: Trial, text: str) -> bool:
    return text in trial.launch.scenario.placeholders.values()
