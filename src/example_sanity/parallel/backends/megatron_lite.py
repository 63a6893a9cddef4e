"""Megatron Lite as verl reaches it (verl_mlite): ``engine.tp`` and friends, in PPO and SFT.

Source of the rules: Megatron-LM dev, ``experimental/lite/megatron/lite/primitive/parallel/state.py`` (init_parallel)
and ``experimental/lite/examples/verl/verl_mlite``.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import megatron_lite_options as options
from example_sanity.parallel.backends.verl import (
    ACTOR,
    PPO_MODEL,
    PPO_WORLD,
    REF,
    SFT_MODEL,
    SFT_WORLD,
    Engine,
    defaults_hold,
)
from example_sanity.parallel.backends.verl_batch import STRATEGY_BATCH, sft, trained
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, switch
from example_sanity.parallel.mesh import Backend

ENGINE = Engine(
    group="mlite",
    ppo="engine",
    sizes={
        "tp": ("tp", 1),
        "pp": ("pp", 1),
        "vpp": ("vpp", 1),
        "cp": ("cp", 1),
        "ep": ("ep", 1),
        "etp": ("etp", 1),
    },
)

DENSE = Split("dp", ("tp", "cp", "pp"), ("tp", "cp", "dp", "pp"))
EXPERT = Split("edp", ("etp", "ep", "pp"), ("etp", "ep", "edp", "pp"))

ENOUGH_RANKS = replace(
    divides(DENSE, "ML-23", "MSH001", "ZeroDivisionError", "verl_mlite/engine/mlite_engine.py:394-407"),
    formula="world >= tp·cp·pp",
    holds=lambda sizes: sizes["world"] >= DENSE.size(sizes) > 0,
    refines="ML-01",
)

CONSTRAINTS = (
    ENOUGH_RANKS,
    divides(DENSE, "ML-01", "MSH001", "ValueError", "primitive/parallel/state.py:71"),
    divides(EXPERT, "ML-02", "MSH002", "ValueError", "primitive/parallel/state.py:72"),
    *claims(
        """
        ML-05 MSH001 N model | primitive/parallel/pp.py:59-60
        vpp <= 1
        vpp = {vpp}, but Megatron Lite has no virtual pipeline stages

        ML-07 MSH007 wasteful model | primitive/parallel/pp.py:31-45
        pp > 1 => layers + 2 >= 2·pp
        {layers} layers with embedding and loss leave the last of pp{pp} stages without a layer

        ML-08 MSH007 N model | primitive/parallel/pp.py:85-90
        with_mtp > 0 and mtp > 0 and gdn = 0 and pp > 1 => (layers + 2 + mtp) // pp >= 2
        with {layers} layers on pp{pp} stages the MTP layer is not on the last one
        refines: ML-07

        ML-12 MSH009 N init | model/deepseek_v4/lite/protocol.py:349-365, model/glm5/lite/protocol.py:143-160
        dsv4 + dsa > 0 => tp = 1 and etp = 1
        Megatron Lite runs this model with tp 1 and etp 1 only, not tp{tp} and etp{etp}

        ML-15 MSH002 V model | primitive/modules/experts.py:83
        experts > 0 => experts % ep = 0
        {experts} experts do not divide among ep{ep} ({experts % ep} left over)

        ML-16 MSH008 V model | primitive/modules/attention/mla.py:95-96, primitive/modules/gqa.py:66
        heads % tp = 0
        {heads} attention heads do not divide among tp{tp} ({heads % tp} left over)

        ML-17 MSH008 V model | primitive/modules/gqa.py:67
        mla = 0 and dsv4 = 0 => kv % tp = 0
        {kv} KV heads do not divide among tp{tp}, and Megatron Lite does not replicate them

        ML-20 MSH008 V model | primitive/modules/gated_delta_net.py:119-121
        gdn > 0 => linear_k % tp = 0 and linear_v % tp = 0
        the gated delta net has {linear_k} key and {linear_v} value heads, which do not divide among tp{tp}

        ML-21 MSH008 A step1 | primitive/parallel/cp.py:566, primitive/modules/gated_delta_net.py:543-557
        gdn > 0 and linear_k % tp = 0 and linear_v % tp = 0
          => linear_k // tp % cp = 0 and linear_v // tp % cp = 0
        {linear_k // tp} key heads of the gated delta net on a tp rank do not divide among cp{cp}
        """
    ),
    *options.RULES,
)

_MTP = (Key("with_mtp", ("actor_rollout_ref.model.mtp.enable", "model.mtp.enable"), 0, switch),)
ENGINE_BACKEND = Backend(
    name="megatron_lite",
    title="Megatron Lite",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.engine"),
    world=PPO_WORLD,
    splits=(DENSE, EXPERT),
    constraints=CONSTRAINTS,
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
    facts=(*_MTP, *options.facts(f"{ACTOR}.engine", f"{ACTOR}.optim")),
    models=PPO_MODEL,
)
ACTOR_BACKEND = trained(
    replace(
        ENGINE_BACKEND,
        facts=(*ENGINE_BACKEND.facts, *options.REFERENCE),
        constraints=(*CONSTRAINTS, *options.REFERENCE_RULES),
    ),
    ACTOR,
    "cp",
    *STRATEGY_BATCH,
)

BACKENDS = (
    ACTOR_BACKEND,
    # ref@actor_rollout_ref.ref=mlite_ref mirrors the actor's sizes and may override each.
    replace(
        ENGINE_BACKEND,
        role="ref",
        keys=ENGINE.keys(f"{REF}.engine", f"{ACTOR}.engine"),
        applies=ENGINE.runs(REF, "ref@actor_rollout_ref.ref"),
    ),
    sft(
        replace(
            ENGINE_BACKEND,
            role="sft",
            keys=ENGINE.keys("engine"),
            world=SFT_WORLD,
            applies=ENGINE.trains,
            facts=(*_MTP, *options.facts("engine", "optim")),
            models=SFT_MODEL,
        ),
        "cp",
    ),
)
