"""Megatron Lite as verl reaches it (verl_mlite): ``engine.tp`` and friends, in PPO and SFT.

Source of the rules: Megatron-LM dev, ``experimental/lite/megatron/lite/primitive/parallel/state.py`` (init_parallel)
and ``experimental/lite/examples/verl/verl_mlite``.
"""

from __future__ import annotations

from dataclasses import replace

from example_sanity.parallel.backends.verl import ACTOR, PPO_WORLD, REF, SFT_WORLD, Engine, defaults_hold
from example_sanity.parallel.mesh import Backend, Constraint, Split, divides

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

NO_VIRTUAL_STAGES = Constraint(
    id="ML-05",
    formula="vpp <= 1",
    code="MSH001",
    effect="error",
    stage="model",
    source="primitive/parallel/pp.py:59-60",
    holds=lambda sizes: sizes["vpp"] <= 1,
    problem=lambda sizes: f"vpp = {sizes['vpp']}, but Megatron Lite has no virtual pipeline stages",
    symbols=("vpp",),
    raises="NotImplementedError",
)

CONSTRAINTS = (
    ENOUGH_RANKS,
    divides(DENSE, "ML-01", "MSH001", "ValueError", "primitive/parallel/state.py:71"),
    divides(EXPERT, "ML-02", "MSH002", "ValueError", "primitive/parallel/state.py:72"),
    NO_VIRTUAL_STAGES,
)

ACTOR_BACKEND = Backend(
    name="megatron_lite",
    title="Megatron Lite",
    role="actor",
    keys=ENGINE.keys(f"{ACTOR}.engine"),
    world=PPO_WORLD,
    splits=(DENSE, EXPERT),
    constraints=CONSTRAINTS,
    applies=ENGINE.runs(ACTOR, "actor@actor_rollout_ref.actor"),
    defaults_hold=defaults_hold,
)

BACKENDS = (
    ACTOR_BACKEND,
    # ref@actor_rollout_ref.ref=mlite_ref mirrors the actor's sizes and may override each.
    replace(
        ACTOR_BACKEND,
        role="ref",
        keys=ENGINE.keys(f"{REF}.engine", f"{ACTOR}.engine"),
        applies=ENGINE.runs(REF, "ref@actor_rollout_ref.ref"),
    ),
    replace(ACTOR_BACKEND, role="sft", keys=ENGINE.keys("engine"), world=SFT_WORLD, applies=ENGINE.trains),
)
