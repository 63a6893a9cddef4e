"""Optimizer steps in the log of a trainer: number, loss, gradient norm, reward.

Known lines: the console logger of verl (``step:1 - train/loss:6.97 - ...``, ``utils/logger/aggregate_logger.py``), Megatron-LM
(`` iteration 1/ 4 | ... lm loss: 6.9E+00 | ...``, ``training/training.py``) and slime (``step 0: {'train/loss': ...}``,
``backends/megatron_utils/model.py``; rewards stand in its ``rollout 0: {...}`` lines).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

from example_sanity.core.regex import regex

_ANSI = regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# What Ray, torchrun and its kin put before each line of a worker.
_PREFIX = regex(
    r"\s*(?:\((?:[\w.:-]+ )?pid=\d+(?:, ip=[^)\s]+)?(?:, actor_id=\w+)?\)|\[(?:rank|default)\d+\]:)\s?"
)
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
_VALUE = rf"(?:(?:np|numpy)\.\w+\()?(?P<value>{_NUMBER})\)?"

_VERL = regex(r"(?:^|[\s|\]])step:(?P<number>\d{1,12}) - (?P<rest>.*)")
_VERL_METRIC = regex(rf"(?:^| - )(?P<name>[^\s:]+):{_VALUE}(?=$| - |\s)", re.I)
_MEGATRON = regex(r"(?:^|\s)iteration\s+(?P<number>\d{1,12})/\s*\d+ \|(?P<rest>.*)")
_MEGATRON_METRIC = regex(rf"\s*(?P<name>[\w ()/.-]+): +{_VALUE} *\|", re.I)
_SLIME = regex(
    r"(?:^|\s)(?P<role>[\w-]+-)?(?P<kind>step|rollout) (?P<number>\d{1,12}): \{(?P<rest>.*)\}", re.I
)
_SLIME_METRIC = regex(rf"'(?P<name>[^']+)': {_VALUE}(?=,|$)", re.I)

# In the order in which they count: a line with several has the one that is meant by "the loss" first.
_LOSSES = ("train/loss", "actor/loss", "actor/pg_loss", "train/pg_loss", "critic/vf_loss", "lm loss", "loss")
_GRAD_NORMS = ("train/grad_norm", "actor/grad_norm", "critic/grad_norm", "grad norm", "grad_norm")
_REWARDS = ("critic/rewards/mean", "critic/score/mean", "rollout/raw_reward", "rollout/rewards")
_MEMORY = ("perf/max_memory_allocated_gb", "actor/perf/max_memory_allocated_gb")
_NAN_COUNT = "number of nan iterations"


class Step(msgspec.Struct, frozen=True):
    """One optimizer step: what its line says, None where it says nothing.

    ``memory_gb`` is the peak that the trainer says it allocated on its GPU. ``seconds`` count from the start of the run, None
    where only its log is known.
    ``non_finite`` names the metrics that were NaN or infinite; their values are None.
    """

    number: int
    loss: float | None = None
    grad_norm: float | None = None
    reward: float | None = None
    memory_gb: float | None = None
    seconds: float | None = None
    non_finite: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the step has a loss, be it a finite one or not: a line of validation has none."""
        return self.loss is not None or bool(self.non_finite)


def clean(line: str) -> str:
    """Return the line without terminal codes and without the prefixes of Ray and torchrun."""
    text = _ANSI.sub("", line)
    while found := _PREFIX.match(text):
        text = text[found.end() :]
    return text.rstrip()


def parse(line: str, seconds: float | None = None) -> Step | None:
    """Return what a clean line says of a step; None for any other line."""
    if (found := _VERL.search(line)) is not None:
        return _step(found["number"], _metrics(_VERL_METRIC, found["rest"]), seconds)
    if (found := _MEGATRON.search(line)) is not None:
        return _step(found["number"], _metrics(_MEGATRON_METRIC, found["rest"]), seconds)
    if (found := _SLIME.search(line)) is not None and not found["role"]:
        metrics = _metrics(_SLIME_METRIC, found["rest"])
        # Steps of slime count from 0, and so do its rollouts.
        return _step(str(int(found["number"]) + 1), metrics, seconds)
    return None


def merge(known: Step | None, new: Step) -> Step:
    """Return one step out of two lines about it: what the first leaves open the second may say."""
    if known is None:
        return new
    fields = ("loss", "grad_norm", "reward", "memory_gb")
    told = {name: getattr(known, name) for name in fields}
    told = {name: getattr(new, name) if value is None else value for name, value in told.items()}
    both = tuple(dict.fromkeys((*known.non_finite, *new.non_finite)))
    # A step is as late as its loss, not as an earlier line about its rollout.
    seconds = known.seconds if known.is_complete else new.seconds
    return Step(known.number, **told, seconds=seconds, non_finite=both)


def _metrics(pattern: re.Pattern[str], text: str) -> dict[str, float]:
    return {found["name"].strip(): float(found["value"]) for found in pattern.finditer(text)}


def _step(number: str, metrics: Mapping[str, float], seconds: float | None) -> Step:
    groups = (_LOSSES, _GRAD_NORMS, _REWARDS)
    names = [next((name for name in group if name in metrics), None) for group in groups]
    bad = [name for name in names if name is not None and not math.isfinite(metrics[name])]
    if metrics.get(_NAN_COUNT, 0) > 0:
        bad.append(_NAN_COUNT)
    loss, grad_norm, reward = (None if name is None or name in bad else metrics[name] for name in names)
    memory = next((metrics[name] for name in _MEMORY if math.isfinite(metrics.get(name, math.nan))), None)
    return Step(int(number), loss, grad_norm, reward, memory, seconds, tuple(bad))
