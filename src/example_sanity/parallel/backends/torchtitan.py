"""torchtitan: ``--parallelism.*`` of its own trainer, and as an engine of verl under ``actor.torchtitan``.

Source of the rules: torchtitan ``distributed/parallel_dims.py``, ``trainer.py``, ``models/common/decoder.py``; verl
``workers/engine/torchtitan/transformer_impl.py``. The sharded ranks are a size of their own: ``shards`` -1 takes what is
left over, and verl's default is 1.
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
from example_sanity.parallel.constraint import Split, claims
from example_sanity.parallel.keys import Key, Settings, configuration_read, switch
from example_sanity.parallel.mesh import Backend

_INNER = ("tp", "cp", "replicas", "pp")
DENSE = Split("shard", _INNER, ("tp", "cp", "shard", "replicas", "pp"))
RULES = claims(
    """
    TT-01a MSH001 A init | torchtitan/distributed/parallel_dims.py:166-187
    shards > 0 => replicas·shards·cp·tp·pp = world
    dp_replicate{replicas}·dp_shard{shards}·cp{cp}·tp{tp}·pp{pp} = {replicas·shards·cp·tp·pp}, but there are {world} ranks

    TT-01b MSH001 A init | torchtitan/distributed/parallel_dims.py:166-187
    shards < 0 => world % (replicas·cp·tp·pp) = 0
    {world} GPUs do not divide into dp_replicate{replicas}·cp{cp}·tp{tp}·pp{pp} = {replicas·cp·tp·pp}
      ({world % (replicas·cp·tp·pp)} left over)

    TT-02 MSH002 V init | torchtitan/distributed/parallel_dims.py:189-194
    shard·cp·tp % ep = 0
    dp_shard{shard}·cp{cp}·tp{tp} = {shard·cp·tp} ranks do not divide into ep{ep} ({shard·cp·tp % ep} left over)

    TT-05a MSH008 V model | torchtitan/models/common/decoder.py:185-208
    heads % tp = 0 and kv % tp = 0
    {heads} attention and {kv} KV heads do not both divide among tp{tp}

    TT-05b MSH002 V model | torchtitan/models/common/decoder.py:185-208
    experts > 0 => experts % ep = 0
    {experts} experts do not divide among ep{ep} ({experts % ep} left over)
    """
)
NATIVE_RULES = (
    *RULES,
    *claims(
        """
        TT-03 MSH009 V init | torchtitan/trainer.py:299-308
        tokens % ((tp if loose = 0 else 1)·(2·cp if cp > 1 else 1)) = 0
        {tokens} tokens of a micro batch do not divide into {(tp if loose = 0 else 1)·(2·cp if cp > 1 else 1)} parts
          for tp{tp} and cp{cp} ({tokens % ((tp if loose = 0 else 1)·(2·cp if cp > 1 else 1))} left over)
        adjust: seq

        TT-04 BAT003 V init | torchtitan/trainer.py:412-425
        step_tokens % (seq·mbs·dp) = 0
        {step_tokens} tokens of a step do not divide into {seq}·{mbs} = {seq·mbs} on dp{dp} ({step_tokens % (seq·mbs·dp)}
          left over)
        adjust: step_tokens@max(1,step_tokens//(seq·mbs·dp))·seq·mbs·dp

        TT-06 MSH007 V model | torchtitan/distributed/pipeline_parallel.py:233
        pp > 1 and per_stage > 0 => ceil(layers + emb + loss, per_stage) % pp = 0
        {ceil(layers + emb + loss, per_stage)} virtual stages do not divide among pp{pp}
        adjust: per_stage
        """
    ),
)
_VERL = {
    "replicas": ("data_parallel_replicate_size", 1),
    "tp": ("tensor_parallel_size", 1),
    "pp": ("pipeline_parallel_size", 1),
    "cp": ("context_parallel_size", 1),
    "ep": ("expert_parallel_size", 1),
    "shards": ("data_parallel_shard_size", 1),
}
_NATIVE = {
    "replicas": ("data_parallel_replicate_degree", 1),
    "tp": ("tensor_parallel_degree", 1),
    "pp": ("pipeline_parallel_degree", 1),
    "cp": ("context_parallel_degree", 1),
    "ep": ("expert_parallel_degree", 1),
    "shards": ("data_parallel_shard_degree", -1),
}
ENGINE = Engine(group="torchtitan", ppo="torchtitan", sizes=_VERL)
_LETS = (("dp", "shard·replicas"),)
_ENGINE = Backend(
    name="torchtitan",
    title="torchtitan in verl",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.torchtitan"),
    world=PPO_WORLD,
    splits=(DENSE,),
    constraints=RULES,
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
    lets=_LETS,
    models=PPO_MODEL,
)


def native(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs torchtitan's own trainer."""
    return any(f"parallelism.{name}" in settings for name, _ in _NATIVE.values())


BACKENDS = (
    trained(_ENGINE, ACTOR, "tp", *STRATEGY_BATCH),
    sft(
        replace(
            _ENGINE,
            role="sft",
            keys=ENGINE.keys("engine"),
            world=SFT_WORLD,
            applies=ENGINE.trains,
            models=SFT_MODEL,
        ),
        "tp",
    ),
    Backend(
        name="torchtitan_native",
        title="torchtitan",
        role="trainer",
        keys=tuple(Key(symbol, (f"parallelism.{name}",), size) for symbol, (name, size) in _NATIVE.items()),
        world=(),
        splits=(DENSE,),
        constraints=NATIVE_RULES,
        applies=native,
        defaults_hold=configuration_read,
        facts=(
            Key("seq", ("training.seq_len",)),
            Key("mbs", ("training.local_batch_size",)),
            Key("step_tokens", ("training.num_tokens_per_train_step",)),
            Key("loose", ("parallelism.disable_sequence_parallel",), 0, switch),
            Key("per_stage", ("parallelism.pipeline_parallel_layers_per_stage",), 0),
            Key("emb", ("parallelism.pipeline_parallel_first_stage_less_layers",), 1),
            Key("loss", ("parallelism.pipeline_parallel_last_stage_less_layers",), 1),
        ),
        models=("model.hf_assets_path",),
        # A pipeline cuts the local batch into single sequences.
        lets=(*_LETS, ("tokens", "seq·(1 if pp > 1 else mbs)")),
    ),
)
