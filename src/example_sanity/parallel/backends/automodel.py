"""NeMo Automodel: ``distributed.*`` of its recipes, and as an engine of verl under ``actor.engine``.

Source of the rules: Automodel ``nemo_automodel/components/distributed/mesh_utils.py``, ``parallelizer.py``,
``components/moe/parallelizer.py``, ``components/training/step_scheduler.py``; verl ``workers/config/engine.py``.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends.verl import (
    ACTOR,
    PPO_MODEL,
    PPO_WORLD,
    SFT_MODEL,
    SFT_WORLD,
    Engine,
    defaults_hold,
)
from example_sanity.parallel.backends.verl_batch import STRATEGY_BATCH, sft, trained
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, configuration_read, one_of
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("tp", "cp", "pp"), ("tp", "cp", "dp", "pp"))
_MESH = "nemo_automodel/components/distributed/mesh_utils.py"
RULES = (
    divides(DENSE, "AM-01", "MSH001", "ValueError", f"{_MESH}:105-121"),
    *claims(
        """
        AM-02a MSH001 V init | nemo_automodel/components/distributed/mesh_utils.py:308-314
        dp % replicas = 0
        dp{dp} does not divide into {replicas} replicas ({dp % replicas} left over)
        adjust: replicas

        AM-02b MSH001 V init | nemo_automodel/components/distributed/mesh_utils.py:308-314
        replicas > 1 and dp % replicas = 0 => replicas < dp
        dp_replicate_size {replicas} leaves nothing to shard of dp{dp}
        adjust: replicas

        AM-03 MSH002 V init | nemo_automodel/components/distributed/mesh_utils.py:316
        dp·cp·tp % ep = 0
        dp{dp}·cp{cp}·tp{tp} = {dp·cp·tp} ranks do not divide into ep{ep} ({dp·cp·tp % ep} left over)

        AM-04a MSH009 V init | nemo_automodel/components/distributed/mesh_utils.py:85-99
        megatron_fsdp > 0 => pp = 1 and ep = 1
        megatron_fsdp has neither pipeline nor expert parallel ranks, but pp = {pp} and ep = {ep}

        AM-04b MSH009 V init | nemo_automodel/components/distributed/mesh_utils.py:85-99
        ddp > 0 => tp·cp·pp·ep = 1
        ddp has data parallel ranks only, but tp = {tp}, cp = {cp}, pp = {pp}, ep = {ep}

        AM-05 MSH002 A model | nemo_automodel/components/moe/parallelizer.py:1053
        experts > 0 => experts % ep = 0
        {experts} experts do not divide among ep{ep} ({experts % ep} left over)

        AM-06 MSH008 A model | nemo_automodel/components/distributed/parallelizer.py:1694-1697
        heads % tp = 0 and kv % tp = 0
        {heads} attention and {kv} KV heads do not both divide among tp{tp}
        """
    ),
)
ENGINE = Engine(
    group="automodel",
    ppo="engine",
    sizes={"tp": ("tp_size", 1), "pp": ("pp_size", 1), "cp": ("cp_size", 1), "ep": ("ep_size", 1)},
)
IN_VERL = claims(
    """
    VO-02 MSH009 A cfg | workers/config/engine.py:651-658
    pp = 1
    verl runs Automodel without pipeline stages, but pp = {pp}
    """
)


def _facts(prefix: str, strategy: str) -> tuple[Key, ...]:
    return (
        Key("replicas", (f"{prefix}.dp_replicate_size",), 1),
        Key("megatron_fsdp", (f"{prefix}.{strategy}",), 0, one_of("megatron_fsdp")),
        Key("ddp", (f"{prefix}.{strategy}",), 0, one_of("ddp")),
    )


_ENGINE = Backend(
    name="automodel",
    title="Automodel in verl",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.engine"),
    world=PPO_WORLD,
    splits=(DENSE,),
    constraints=(*IN_VERL, *RULES),
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
    facts=_facts(f"{ACTOR}.engine", "distributed_strategy"),
    models=PPO_MODEL,
)
NATIVE_RULES = (
    *RULES,
    *claims(
        """
        AM-07 BAT003 V init | nemo_automodel/components/training/step_scheduler.py:114
        gbs % (mbs·dp) = 0
        global batch {gbs} does not divide into local batches of {mbs} on dp{dp} ({gbs % (mbs·dp)} left over)
        adjust: gbs

        AM-01b MSH010 AssertionError init | nemo_automodel/components/distributed/mesh_utils.py:303
        stated > 0 => stated·tp·cp·pp = world
        dp_size {stated}·tp{tp}·cp{cp}·pp{pp} = {stated·tp·cp·pp}, but {world} ranks are launched
        adjust: stated
        """
    ),
)


def native(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs a recipe of Automodel."""
    return any(f"distributed.{name}" in settings for name, _ in ENGINE.sizes.values())


BACKENDS = (
    trained(_ENGINE, ACTOR, "cp", *STRATEGY_BATCH),
    sft(
        replace(
            _ENGINE,
            role="sft",
            keys=ENGINE.keys("engine"),
            facts=_facts("engine", "distributed_strategy"),
            world=SFT_WORLD,
            applies=ENGINE.trains,
            models=SFT_MODEL,
        ),
        "cp",
    ),
    Backend(
        name="automodel_native",
        title="Automodel",
        role="trainer",
        keys=ENGINE.keys("distributed"),
        world=(),
        splits=(DENSE,),
        constraints=NATIVE_RULES,
        applies=native,
        defaults_hold=configuration_read,
        facts=(
            *_facts("distributed", "strategy"),
            Key("stated", ("distributed.dp_size",), 0),
            Key("gbs", ("step_scheduler.global_batch_size",)),
            Key("mbs", ("step_scheduler.local_batch_size",)),
        ),
        models=("model.pretrained_model_name_or_path",),
    ),
)
