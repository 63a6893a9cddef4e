"""miles: slime's launches with more of their own, and an FSDP backend (``--train-backend fsdp``).

Source of the rules: miles ``miles/utils/arguments.py`` and ``miles/backends/fsdp_utils/arguments.py``.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import slime
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, switch
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("replicas",), ("dp", "replicas"))
FACTS = (
    Key("eval_gpus", ("eval-num-gpus",), 0),
    Key("eval_engine", ("eval-num-gpus-per-engine",), 1),
    Key("replay", ("use-rollout-indexer-replay",), 0, switch),
    Key("partial", ("allow-partial-train-step",), 0, switch),
)
RULES = claims(
    """
    MI-04 MSH006 A cfg | miles/utils/arguments.py:3064
    eval_gpus > 0 => eval_gpus % eval_engine = 0
    {eval_gpus} evaluation GPUs do not divide into engines of {eval_engine} ({eval_gpus % eval_engine} left over)
    adjust: eval_gpus

    MI-05a MSH009 A cfg | miles/utils/arguments.py:3677
    dsv4 > 0 and cp > 1 => gather > 0
    DeepSeek-V4 with cp{cp} needs --allgather-cp

    MI-05b MSH009 A cfg | miles/utils/arguments.py:3484
    replay > 0 => cp = 1
    --use-rollout-indexer-replay runs without context parallel, but cp = {cp}
    """
)
FSDP_RULES = (
    *claims(
        """
        MI-02 MSH009 A cfg | miles/utils/arguments.py:2702
        cp = 1
        the FSDP backend runs without context parallel, but cp = {cp}
        adjust: cp
        """
    ),
    replace(
        divides(DENSE, "MI-03", "MSH001", "ValueError", "miles/backends/fsdp_utils/arguments.py:125-133"),
        stage="cfg",
    ),
)
# The batch of the FSDP backend is cut by the same schedule.
_SCHEDULE = tuple(
    rule for rule in slime.RULES if rule.id.startswith(("SL-06", "SL-07", "SL-12", "SL-13", "SL-14"))
)


def megatron(settings: Settings, program: str | None) -> bool:
    """Return whether a launch is one of miles on Megatron-LM; replicas of their own have no common mesh."""
    ours = "miles" in (program or "") or any(sign in settings for sign in slime.MILES)
    return ours and "indep-dp" not in settings and slime.trains(settings, "megatron")


def fsdp(settings: Settings, program: str | None) -> bool:
    """Return whether a launch is one of miles on FSDP."""
    return slime.trains(settings, "fsdp")


BACKENDS = (
    replace(
        slime.BACKENDS[0],
        name="miles",
        title="miles",
        constraints=(*(rule for rule in slime.CONSTRAINTS if rule.id != "SL-05"), *RULES),
        applies=megatron,
        facts=(*slime.BACKENDS[0].facts, *FACTS),
    ),
    Backend(
        name="miles_fsdp",
        title="miles on FSDP",
        role="actor",
        keys=(Key("replicas", ("dp-replicate-size",), 1),),
        world=slime.WORLD,
        splits=(DENSE,),
        constraints=(*FSDP_RULES, *_SCHEDULE),
        applies=fsdp,
        facts=(Key("cp", ("context-parallel-size",), 1), *slime.DEFAULTS, *slime.ROLLOUT),
        lets=(
            ("gbs", "prompts·n // steps"),
            ("ranks", "dp·replicas"),
            ("rollouts", "prompts·n"),
            ("group", "replicas"),
        ),
    ),
)
