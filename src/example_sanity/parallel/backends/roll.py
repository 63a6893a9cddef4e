"""ROLL: ``start_rlvr_pipeline.py --config_path FOLDER --config_name NAME``, trained on Megatron-Core.

Source of the rules: ROLL ``roll/configs/base_config.py`` and ``roll/utils/config_utils.py``; what the ranks of
Megatron-Core ask comes on top. Everything stands in the file that the launch names.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.core.regex import regex
from example_sanity.parallel.backends.megatron_core import EXPERT_RANKS, EXPERTS, HEADS, SPLITS
from example_sanity.parallel.constraint import claims, divides
from example_sanity.parallel.keys import Key, Settings, configuration_read
from example_sanity.parallel.mesh import Backend

_TRAIN = "actor_train"
_SIZES = f"{_TRAIN}.strategy_args.strategy_config"
_RANGE = regex(r"list\(range\((?:(\d+)\s*,)?\s*(\d+)\)\)")
_LIST = regex(r"(?:list\()?\[(\d+(?:\s*,\s*\d+)*)\]\)?")


def devices(value: object) -> int | None:
    """Return how many GPUs a device mapping names, ``list(range(0,8))`` or ``[0, 1]``, or None for another expression."""
    if isinstance(value, list):
        return len(value)
    text = str(value).strip()
    if found := _RANGE.fullmatch(text):
        return max(int(found[2]) - int(found[1] or 0), 0)
    listed = _LIST.fullmatch(text)
    return listed[1].count(",") + 1 if listed else None


_IN_DRIVER = replace(
    divides(SPLITS[0], "RO-01", "MSH001", "ValueError", "roll/utils/config_utils.py:28-47"), stage="cfg"
)
RULES = claims(
    """
    RO-02 BAT001 V cfg | roll/utils/config_utils.py:57-97
    b > 0 => b % dp = 0
    rollout batch {b} does not divide among dp{dp} ({b % dp} left over); older releases hang
    adjust: b
    """
)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether a launch trains with ROLL on Megatron-Core."""
    strategy = str(settings.get(f"{_TRAIN}.strategy_args.strategy_name", ""))
    return configuration_read(settings) and strategy.startswith("megatron")


BACKENDS = (
    Backend(
        name="roll",
        title="ROLL on Megatron-Core",
        role="actor",
        keys=(
            Key("tp", (f"{_SIZES}.tensor_model_parallel_size",), 1),
            Key("pp", (f"{_SIZES}.pipeline_model_parallel_size",), 1),
            Key("cp", (f"{_SIZES}.context_parallel_size",), 1),
            Key("ep", (f"{_SIZES}.expert_model_parallel_size",), 1),
            Key("etp", (f"{_SIZES}.expert_tensor_parallel_size",), "tp"),
        ),
        world=(Key("gpus", (f"{_TRAIN}.device_mapping",), None, devices),),
        splits=SPLITS,
        constraints=(
            _IN_DRIVER,
            *RULES,
            EXPERT_RANKS,
            *HEADS,
            *EXPERTS,
        ),
        applies=applies,
        facts=(Key("b", ("rollout_batch_size",)),),
        lets=(("groups", "kv"), ("needed", "world")),
        models=("pretrain",),
    ),
)
