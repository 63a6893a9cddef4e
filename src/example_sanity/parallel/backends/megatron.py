"""Megatron-Core as verl reaches it: ``actor_rollout_ref.actor.megatron.*``, its ref and critic, and ``engine.*`` in SFT.

Source of the rules: Megatron-LM dev, ``megatron/core/parallel_state.py`` (initialize_model_parallel); verl
``workers/engine/megatron/transformer_impl.py`` calls it in the workers.
"""

from __future__ import annotations

from dataclasses import replace

from example_sanity.parallel.backends.verl import (
    ACTOR,
    CRITIC,
    PPO_WORLD,
    REF,
    SFT_WORLD,
    Engine,
    defaults_hold,
)
from example_sanity.parallel.mesh import Backend, Constraint, Split, divides

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

DENSE = Split("dp", ("tp", "cp", "pp"), ("tp", "cp", "dp", "pp"))
EXPERT = Split("edp", ("etp", "ep", "pp"), ("etp", "ep", "edp", "pp"))

VIRTUAL_NEEDS_STAGES = Constraint(
    id="MC-33",
    formula="vpp is set => pp > 1",
    code="MSH001",
    effect="error",
    stage="init",
    source="megatron/core/parallel_state.py:740",
    holds=lambda sizes: "vpp" not in sizes or sizes["pp"] > 1,
    problem=lambda sizes: f"vpp = {sizes['vpp']} needs more than one pipeline stage, but pp = {sizes['pp']}",
    symbols=("vpp", "pp"),
    raises="RuntimeError",
)

CONSTRAINTS = (
    divides(DENSE, "MC-31", "MSH001", "RuntimeError", "megatron/core/parallel_state.py:734"),
    VIRTUAL_NEEDS_STAGES,
    divides(EXPERT, "MC-32", "MSH002", "RuntimeError", "megatron/core/parallel_state.py:786"),
)

ACTOR_BACKEND = Backend(
    name="megatron",
    title="Megatron-Core",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.megatron"),
    world=PPO_WORLD,
    splits=(DENSE, EXPERT),
    constraints=CONSTRAINTS,
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
)

BACKENDS = (
    ACTOR_BACKEND,
    replace(
        ACTOR_BACKEND,
        role="ref",
        keys=ENGINE.keys(f"{REF}.megatron", f"{ACTOR}.megatron"),
        applies=ENGINE.runs(REF, "ref@actor_rollout_ref.ref"),
    ),
    replace(
        ACTOR_BACKEND,
        role="critic",
        keys=ENGINE.keys(f"{CRITIC}.megatron"),
        applies=ENGINE.runs(CRITIC, "critic@critic"),
    ),
    replace(ACTOR_BACKEND, role="sft", keys=ENGINE.keys("engine"), world=SFT_WORLD, applies=ENGINE.trains),
)
