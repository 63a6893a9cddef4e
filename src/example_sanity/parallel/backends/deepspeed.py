"""DeepSpeed: the batch chain of its configuration, Ulysses and expert parallel ranks.

Source of the rules: DeepSpeed ``deepspeed/runtime/config.py``, ``utils/groups.py``, ``runtime/sequence_parallel``.
The keys are those of its JSON file; they are settings where the file is read or a launcher sets them.
"""

from __future__ import annotations

from example_sanity.parallel.constraint import Split, claims
from example_sanity.parallel.keys import Key, Settings
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("sp", "tp", "pp"), ("tp", "sp", "dp", "pp"))
RULES = claims(
    """
    DS-01 BAT008 A init | deepspeed/runtime/config.py:937
    gbs = mbs·steps·dp
    train_batch_size {gbs} is not micro batch {mbs}·accumulation {steps}·dp{dp} = {mbs·steps·dp}
    adjust: gbs

    DS-04 MSH001 R init | deepspeed/runtime/sequence_parallel/parallel_state_sp.py:23-31
    sp > 1 => world % sp = 0
    {world} GPUs do not divide into sequence parallel groups of {sp} ({world % sp} left over)

    DS-05a MSH008 V init | deepspeed/runtime/sequence_parallel/ulysses_sp.py:145-148
    heads % sp = 0
    {heads} attention heads do not divide among Ulysses sp{sp} ({heads % sp} left over)

    DS-05b MSH008 V init | deepspeed/runtime/sequence_parallel/ulysses_sp.py:145-148
    heads % sp = 0 => kv % sp = 0 or sp % kv = 0
    {kv} KV heads and Ulysses sp{sp}: neither divides the other

    DS-06 MSH009 V init | deepspeed/runtime/sequence_parallel/ulysses_sp.py:697,1496
    sp > 1 => seq % sp = 0
    sequence length {seq} does not divide among sp{sp} ({seq % sp} left over)
    adjust: seq

    DS-08a MSH001 A init | deepspeed/utils/groups.py:100
    world % (tp·pp) = 0
    {world} GPUs do not divide into tp{tp}·pp{pp} = {tp·pp} ({world % (tp·pp)} left over)

    DS-08b MSH002 A init | deepspeed/utils/groups.py:497-499
    world % (tp·pp) = 0 => world // (tp·pp) % ep = 0
    {world // (tp·pp)} data parallel ranks do not divide into ep{ep} ({world // (tp·pp) % ep} left over)
    """
)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether the settings are those of a DeepSpeed configuration."""
    return "train_micro_batch_size_per_gpu" in settings


BACKENDS = (
    Backend(
        name="deepspeed",
        title="DeepSpeed",
        role="trainer",
        keys=(
            Key("sp", ("sequence_parallel_size",), 1),
            Key("tp", ("tensor_parallel.autotp_size", "tensor_parallel.tp_size"), 1),
            Key("pp", ("pipeline.stages",), 1),
            Key("ep", ("expert_parallel_size", "ep_size"), 1),
        ),
        world=(),
        splits=(DENSE,),
        constraints=RULES,
        applies=applies,
        facts=(
            Key("gbs", ("train_batch_size",)),
            Key("mbs", ("train_micro_batch_size_per_gpu",)),
            Key("steps", ("gradient_accumulation_steps",), 1),
            Key("seq", ("seq_length", "max_length")),
        ),
        models=("model_name_or_path",),
    ),
)
