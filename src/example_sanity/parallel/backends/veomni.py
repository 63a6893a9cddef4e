"""VeOmni: ``train.accelerator.*`` of its own trainer, and as an engine of verl under ``actor.veomni``.

Source of the rules: VeOmni ``veomni/arguments/arguments_types.py`` and ``veomni/distributed/parallel_state.py``; verl
``workers/engine/veomni/transformer_impl.py``. FSDP ranks are either sharded or replicated: ``shard`` are the former.
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
from example_sanity.parallel.keys import Key, Settings, configuration_read
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("sp",), ("sp", "dp"))
MODEL = claims(
    """
    VE-06 MSH002 A init | veomni/distributed/parallel_state.py:614
    shard·sp % ep = 0
    {shard}·sp{sp} = {shard·sp} sharded ranks do not divide into ep{ep} ({shard·sp % ep} left over)

    VE-07a MSH008 A step1 | veomni/ops/kernels/attention/ulysses.py:39-51
    heads % sp = 0
    {heads} attention heads do not divide among Ulysses sp{sp} ({heads % sp} left over)

    VE-07b MSH008 A step1 | veomni/ops/kernels/attention/ulysses.py:39-51
    mla = 0 and heads % sp = 0 => kv % sp = 0 or sp % kv = 0
    {kv} KV heads and Ulysses sp{sp}: neither divides the other

    VE-08 MSH002 A model | veomni/distributed/parallel_plan.py:77
    experts > 0 => experts % ep = 0
    {experts} experts do not divide among ep{ep} ({experts % ep} left over)
    """
)
IN_VERL = claims(
    """
    VO-01b MSH001 V init | workers/engine/veomni/transformer_impl.py:151-174
    fsdp_size > 0 and fsdp_size < dp => dp % fsdp_size = 0
    dp{dp} does not divide into shards of fsdp_size {fsdp_size} ({dp % fsdp_size} left over)
    adjust: fsdp_size

    VO-01c MSH001 ZeroDivisionError init | workers/engine/veomni/transformer_impl.py:151-174
    fsdp_size != 0
    fsdp_size = 0 is no number of ranks; -1 takes all
    adjust: fsdp_size@-1
    """
)
ENGINE = Engine(
    group="veomni",
    ppo="veomni",
    sizes={"sp": ("ulysses_parallel_size", 1), "ep": ("expert_parallel_size", 1)},
)
_ENGINE = Backend(
    name="veomni",
    title="VeOmni in verl",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.veomni"),
    world=PPO_WORLD,
    splits=(DENSE,),
    constraints=(divides(DENSE, "VO-01a", "MSH001", "ValueError", "parallel_state.py:84"), *IN_VERL, *MODEL),
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
    facts=(Key("fsdp_size", (f"{ACTOR}.veomni.fsdp_size",), -1),),
    lets=(("shard", "fsdp_size if fsdp_size > 0 and fsdp_size < dp else dp"),),
    models=PPO_MODEL,
)

NATIVE = Split("dp", ("sp", "cp", "tp", "pp"), ("tp", "cp", "sp", "dp", "pp"))
_SIZES = {"tp": "tp_size", "pp": "pp_size", "cp": "cp_size", "sp": "ulysses_size", "ep": "ep_size"}
NATIVE_RULES = (
    divides(NATIVE, "VE-01", "MSH001", "ValueError", "veomni/arguments/arguments_types.py:819"),
    *claims(
        """
        VE-02 MSH009 A args | veomni/arguments/arguments_types.py:825-827
        tp = 1 and pp = 1 and cp = 1
        VeOmni runs neither tensor, pipeline nor context parallel, but tp = {tp}, pp = {pp}, cp = {cp}

        VE-03a MSH001 A args | veomni/arguments/arguments_types.py:832-844
        replicas > 0 and shards > 0 => replicas·shards = dp
        dp_replicate_size {replicas}·dp_shard_size {shards} = {replicas·shards}, but dp = {dp}
        adjust: shards replicas

        VE-03b MSH001 V args | veomni/arguments/arguments_types.py:832-844
        replicas > 0 and shards < 0 => dp % replicas = 0
        dp{dp} does not divide into {replicas} replicas ({dp % replicas} left over)
        adjust: replicas

        VE-03c MSH001 V args | veomni/arguments/arguments_types.py:832-844
        replicas < 0 and shards > 0 => dp % shards = 0
        dp{dp} does not divide into shards of {shards} ({dp % shards} left over)
        adjust: shards

        VE-04 BAT003 V args | veomni/arguments/arguments_types.py:884-892
        gbs % (mbs·dp) = 0
        global batch {gbs} does not divide into micro batches of {mbs} on dp{dp} ({gbs % (mbs·dp)} left over)
        adjust: gbs
        """
    ),
    *MODEL,
)


def native(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs VeOmni's own trainer."""
    return any(key.startswith("train.accelerator.") for key in settings)


BACKENDS = (
    trained(_ENGINE, ACTOR, "sp", *STRATEGY_BATCH),
    sft(
        replace(
            _ENGINE,
            role="sft",
            keys=ENGINE.keys("engine"),
            facts=(Key("fsdp_size", ("engine.fsdp_size",), -1),),
            world=SFT_WORLD,
            applies=ENGINE.trains,
            models=SFT_MODEL,
        ),
        "sp",
    ),
    Backend(
        name="veomni_native",
        title="VeOmni",
        role="trainer",
        keys=tuple(Key(symbol, (f"train.accelerator.{name}",), 1) for symbol, name in _SIZES.items()),
        world=(),
        splits=(NATIVE,),
        constraints=NATIVE_RULES,
        applies=native,
        defaults_hold=configuration_read,
        facts=(
            Key("replicas", ("train.accelerator.dp_replicate_size",), -1),
            Key("shards", ("train.accelerator.dp_shard_size",), -1),
            Key("mbs", ("train.micro_batch_size",), 1),
            Key("gbs", ("train.global_batch_size",)),
        ),
        lets=(("shard", "shards if shards > 0 else dp // replicas if replicas > 0 else dp"),),
        models=("model.model_path", "model.config_path"),
    ),
)
