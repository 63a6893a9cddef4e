"""FSDP and FSDP2 with Ulysses in verl: the engine of a PPO or SFT launch that names no other.

Source of the rules: verl ``workers/engine/fsdp/transformer_impl.py`` and ``utils.py``, ``workers/config/actor.py``,
``models/transformers/monkey_patch.py``. The two mesh rules are checked by nobody: torch builds a mesh that is too
small, and the ranks that are left over fail when they look for their place in it, while the others wait.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends.verl import (
    ACTOR,
    CRITIC,
    PPO_MODEL,
    PPO_WORLD,
    REF,
    SFT_MODEL,
    SFT_WORLD,
    defaults_hold,
    needed,
    stated_engine,
    trains_with,
)
from example_sanity.parallel.backends.verl_batch import STRATEGY_BATCH, sft, trained
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, one_of, switch
from example_sanity.parallel.mesh import Backend

DENSE = Split("dp", ("sp",), ("sp", "dp"))
ULYSSES = claims(
    """
    VF-06 MSH008 A model | models/transformers/monkey_patch.py:340
    heads % sp = 0
    {heads} attention heads do not divide among Ulysses sp{sp} ({heads % sp} left over)

    VF-07 MSH008 A model | models/transformers/monkey_patch.py:343
    mla = 0 and heads % sp = 0 => kv % sp = 0 or sp % kv = 0
    {kv} KV heads and Ulysses sp{sp}: neither divides the other
    """
)
CONSTRAINTS = (
    replace(
        divides(DENSE, "VF-01", "MSH001", "", "workers/engine/fsdp/transformer_impl.py:216-233"),
        effect="hang",
    ),
    *claims(
        """
        VF-02 MSH001 H init | workers/engine/fsdp/utils.py:35-53
        fsdp_size > 0 and fsdp_size < world => world % fsdp_size = 0
        {world} GPUs do not divide into shards of fsdp_size {fsdp_size} ({world % fsdp_size} left over)
        adjust: fsdp_size

        VF-04 MSH001 ZeroDivisionError init | workers/engine/fsdp/utils.py:35-53
        fsdp_size != 0
        fsdp_size = 0 is no number of ranks; -1 takes all
        adjust: fsdp_size@-1

        VF-05 MSH009 V cfg | workers/config/actor.py:333-343
        sp > 1 => packed > 0
        Ulysses sp{sp} needs use_remove_padding=True

        VF-10 MSH009 V init | workers/engine/fsdp/fsdp_turbo_impl.py:62-70
        turbo > 0 and turbo_sp > 1 => sp = 1
        FSDP-turbo shares a sequence among {turbo_sp} ranks itself, so verl's own Ulysses must be 1, not sp{sp}
        """
    ),
    *ULYSSES,
)


_TURBO = "turbo_config.distributed"


def _keys(*prefixes: str) -> tuple[Key, ...]:
    inside = [f"{prefix}.ulysses_sequence_parallel_size" for prefix in prefixes]
    return (Key("sp", tuple(inside), 1),)


def _facts(model: str, *prefixes: str) -> tuple[Key, ...]:
    return (
        Key("fsdp_size", tuple(f"{prefix}.fsdp_size" for prefix in prefixes), -1),
        Key("turbo", (f"{ACTOR}.strategy",), 0, one_of("fsdp_turbo")),
        Key("turbo_sp", tuple(f"{prefix}.{_TURBO}.ulysses_parallel_size" for prefix in prefixes), 1),
        Key("packed", (f"{model}.use_remove_padding",), 1, switch),
    )


# Parts of keys that show another engine even where none is named.
_OTHERS = (".megatron.", ".engine.", ".veomni.", ".torchtitan.", ".automodel.")
_NAMES = {"dp", "fsdp", "fsdp2"}


def _runs(settings: Settings, program: str | None, role: str) -> bool:
    stated = stated_engine(settings, role, (f"{role.rpartition('.')[2]}@{role}",))
    if stated is not None:
        return stated in _NAMES and _is_verl(settings, program)
    others = any(key.startswith(role) and any(part in key for part in _OTHERS) for key in settings)
    return not others and defaults_hold(settings) and _is_verl(settings, program)


def _is_verl(settings: Settings, program: str | None) -> bool:
    ours = any(key.startswith((f"{ACTOR}.", "actor_rollout_ref.rollout.")) for key in settings)
    return ours and not any(part in (program or "") for part in ("sft", "generation"))


def actor(settings: Settings, program: str | None) -> bool:
    """Return whether the actor of a PPO launch runs on FSDP."""
    return _runs(settings, program, ACTOR)


def critic(settings: Settings, program: str | None) -> bool:
    """Return whether a critic is trained on FSDP, with settings of its own."""
    own = any(key.startswith("critic.") and key != "critic.enable" for key in settings)
    return _runs(settings, program, CRITIC) and needed(settings, CRITIC, own)


def ref(settings: Settings, program: str | None) -> bool:
    """Return whether a reference model on FSDP has sizes of its own."""
    own = any(f"{REF}.{name}" in settings for name in (*_SIZES, *(f"fsdp_config.{name}" for name in _SIZES)))
    return actor(settings, program) and needed(settings, REF, own)


def sft_trainer(settings: Settings, program: str | None) -> bool:
    """Return whether verl's SFT trainer runs on FSDP, which it does where no engine is named."""
    is_trainer = "sft_trainer" in (program or "") and "fsdp_sft_trainer" not in (program or "")
    sizes = any(f"engine.{name}" in settings for name in _SIZES)
    other = any(key.startswith("engine.") and key.rpartition(".")[2] in _OTHER_SIZES for key in settings)
    return trains_with(_NAMES, default=(is_trainer or sizes) and not other)(settings, program)


_OTHER_SIZES = {"tp", "pp", "cp", "ep", "tp_size", "tensor_model_parallel_size", "tensor_parallel_size"}
_OTHER_SIZES |= {"ulysses_parallel_size", "data_parallel_shard_size"}
_SIZES = ("ulysses_sequence_parallel_size", "fsdp_size")
_ENGINE = Backend(
    name="fsdp",
    title="FSDP",
    role="actor",
    keys=_keys(f"{ACTOR}.fsdp_config", ACTOR),
    world=PPO_WORLD,
    splits=(DENSE,),
    constraints=CONSTRAINTS,
    applies=actor,
    defaults_hold=defaults_hold,
    facts=_facts("actor_rollout_ref.model", f"{ACTOR}.fsdp_config"),
    models=PPO_MODEL,
)
BACKENDS = (
    trained(_ENGINE, ACTOR, "sp", *STRATEGY_BATCH),
    replace(
        _ENGINE,
        role="ref",
        keys=_keys(f"{REF}.fsdp_config", REF, ACTOR),
        facts=_facts("actor_rollout_ref.model", f"{REF}.fsdp_config"),
        applies=ref,
    ),
    trained(
        replace(
            _ENGINE,
            role="critic",
            keys=_keys("critic.fsdp", "critic.model.fsdp_config", CRITIC),
            facts=_facts("critic.model", "critic.fsdp", "critic.model.fsdp_config"),
            models=("critic.model.path",),
            applies=critic,
        ),
        CRITIC,
        "sp",
    ),
    sft(
        replace(
            _ENGINE,
            role="sft",
            keys=_keys("engine"),
            facts=_facts("model", "engine"),
            world=SFT_WORLD,
            models=SFT_MODEL,
            applies=sft_trainer,
        ),
        "sp",
    ),
)
