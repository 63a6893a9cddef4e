"""Megatron-Core as verl reaches it: ``actor_rollout_ref.actor.megatron.*``, its ref and critic, and ``engine.*`` in SFT.

Source of the rules: Megatron-LM dev, ``megatron/core/parallel_state.py`` (initialize_model_parallel); verl
``workers/engine/megatron/transformer_impl.py`` calls it in the workers.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends.megatron_core import (
    CHUNKS,
    DENSE,
    EVEN_STAGES,
    EXPERTS,
    HEADS,
    RANKS,
    SPLITS,
    UNEVEN_STAGES,
    layout_stages,
)
from example_sanity.parallel.backends.verl import (
    ACTOR,
    CRITIC,
    PPO_MODEL,
    PPO_WORLD,
    REF,
    SFT_MODEL,
    SFT_WORLD,
    Engine,
    defaults_hold,
)
from example_sanity.parallel.backends.verl_batch import sft, trained
from example_sanity.parallel.constraint import claims, divides
from example_sanity.parallel.keys import Key, switch, whole_number
from example_sanity.parallel.mesh import Backend

ENGINE = Engine(
    group="megatron",
    ppo="megatron",
    sizes={
        "tp": ("tensor_model_parallel_size", 1),
        "pp": ("pipeline_model_parallel_size", 1),
        "vpp": ("virtual_pipeline_model_parallel_size", None),
        "cp": ("context_parallel_size", 1),
        "ep": ("expert_model_parallel_size", 1),
        "etp": ("expert_tensor_parallel_size", "tp"),
    },
)

_OVERRIDES = "override_transformer_config."
FACTS = {
    "first": (f"{_OVERRIDES}num_layers_in_first_pipeline_stage", 0, whole_number),
    "last": (f"{_OVERRIDES}num_layers_in_last_pipeline_stage", 0, whole_number),
    "layout": (f"{_OVERRIDES}pipeline_model_parallel_layout", 0, layout_stages),
    "emb": (f"{_OVERRIDES}account_for_embedding_in_pipeline_split", 0, switch),
    "loss": (f"{_OVERRIDES}account_for_loss_in_pipeline_split", 0, switch),
    "bridge": ("use_mbridge", 1, switch),
    "dynamic_cp": ("dynamic_context_parallel", 0, switch),
    "rank_tokens": ("max_seqlen_per_dp_cp_rank", 0, whole_number),
}
# Query groups are the model's KV heads here, and every chunk is a virtual stage that the launcher asks for.
LETS = (("groups", "kv"), ("chunks", "vpp"))


def facts(*prefixes: str) -> tuple[Key, ...]:
    """Return the keys of the numbers that are no sizes under these prefixes, the nearest prefix first."""
    return tuple(
        Key(symbol, tuple(f"{prefix}.{name}" for prefix in prefixes), default, read)
        for symbol, (name, default, read) in FACTS.items()
    )


OPTIONS = claims(
    """
    VM-03 MSH009 A init | verl/workers/engine/megatron/transformer_impl.py:191
    bridge > 0
    verl's Megatron engine needs use_mbridge=True

    VM-06a MSH009 V init | verl/workers/engine/megatron/transformer_impl.py:103-109
    dynamic_cp > 0 => dp·cp >= 2 and dp·cp % 2 = 0
    dynamic context parallel needs an even number of dp·cp ranks, not dp{dp}·cp{cp} = {dp·cp}

    VM-06b MSH009 N init | verl/workers/engine/megatron/transformer_impl.py:124-125
    dynamic_cp > 0 => chunks <= 1
    dynamic context parallel runs without virtual stages, but vpp = {chunks}

    VM-06c MSH009 V cfg | verl/workers/config/engine.py:228-234
    dynamic_cp > 0 => rank_tokens > 0
    dynamic context parallel needs max_seqlen_per_dp_cp_rank

    VM-08 MSH009 V model | verl/utils/megatron_utils.py:1828-1829
    with_mtp > 0 => mtp > 0
    the model has no MTP layers, so model.mtp.enable must be False
    """
)
CONSTRAINTS = (*RANKS, *HEADS, *EXPERTS, *UNEVEN_STAGES, *EVEN_STAGES, *CHUNKS, *OPTIONS)
_MTP = (Key("with_mtp", ("actor_rollout_ref.model.mtp.enable", "model.mtp.enable"), 0, switch),)

IN_DRIVER = (
    replace(
        divides(DENSE, "VC-02a", "MSH001", "AssertionError", "verl/utils/config.py:89-97"),
        formula="dynamic = 0 => world % (tp·cp·pp) = 0",
        holds=lambda values: values["dynamic"] > 0 or DENSE.whole(values),
        symbols=("tp", "cp", "pp", "world", "dynamic"),
        effect="assertion",
        stage="cfg",
        refines="MC-31",
    ),
    *claims(
        """
        VC-02b BAT003 A cfg | verl/utils/config.py:98-113
        dynamic = 0 and apart = 0 => b·n % (dp·mbs) = 0
        {b}·{n} = {b·n} samples of a step do not divide among dp{dp}·micro batch {mbs} = {dp·mbs}
          ({b·n % (dp·mbs)} left over)
        adjust: b
        """
    ),
)

ENGINE_BACKEND = Backend(
    name="megatron",
    title="Megatron-Core",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.megatron"),
    world=PPO_WORLD,
    splits=SPLITS,
    constraints=CONSTRAINTS,
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
    facts=(*_MTP, *facts(f"{ACTOR}.megatron")),
    lets=LETS,
    models=PPO_MODEL,
)

ACTOR_BACKEND = trained(ENGINE_BACKEND, ACTOR, "cp", *IN_DRIVER)

BACKENDS = (
    ACTOR_BACKEND,
    replace(
        ENGINE_BACKEND,
        role="ref",
        keys=ENGINE.keys(f"{REF}.megatron", f"{ACTOR}.megatron"),
        facts=facts(f"{REF}.megatron", f"{ACTOR}.megatron"),
        applies=ENGINE.runs(REF, "ref@actor_rollout_ref.ref"),
    ),
    trained(
        replace(
            ENGINE_BACKEND,
            role="critic",
            keys=ENGINE.keys(f"{CRITIC}.megatron"),
            facts=facts(f"{CRITIC}.megatron"),
            models=("critic.model.path",),
            applies=ENGINE.runs(CRITIC, "critic@critic"),
        ),
        CRITIC,
        "cp",
    ),
    sft(
        replace(
            ENGINE_BACKEND,
            role="sft",
            keys=ENGINE.keys("engine"),
            world=SFT_WORLD,
            applies=ENGINE.trains,
            facts=(*_MTP, *facts("engine")),
            models=SFT_MODEL,
        ),
        "cp",
    ),
)
