"""NeMo-RL: ``policy.megatron_cfg`` or ``policy.dtensor_cfg`` on ``cluster.num_nodes`` · ``cluster.gpus_per_node``.

Source of the rules: NeMo-RL ``nemo_rl/models/policy/lm_policy.py``, ``models/generation/vllm/vllm_generation.py`` and
``algorithms/grpo.py``. Defaults stand in recipes, so what a launch does not state is not known without them.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends.megatron_core import EXPERT_RANKS, EXPERTS, HEADS, SPLITS
from example_sanity.parallel.constraint import Split, claims, divides
from example_sanity.parallel.keys import Key, Settings, configuration_read, switch
from example_sanity.parallel.mesh import Backend

_MEGATRON, _DTENSOR = "policy.megatron_cfg", "policy.dtensor_cfg"
_GENERATION = "policy.generation.vllm_cfg"
WORLD = (Key("nnodes", ("cluster.num_nodes",)), Key("gpn", ("cluster.gpus_per_node",)))
DTENSOR = Split("dp", ("tp", "cp"), ("tp", "cp", "dp"))
_POLICY = "nemo_rl/models/policy/lm_policy.py:225,233"
FACTS = (
    Key("rtp", (f"{_GENERATION}.tensor_parallel_size",), 1),
    Key("rpp", (f"{_GENERATION}.pipeline_parallel_size",), 1),
    Key("rep", (f"{_GENERATION}.expert_parallel_size",), 1),
    Key("engine_async", (f"{_GENERATION}.async_engine",), 0, switch),
    Key("colocated", ("policy.generation.colocated.enabled",), 1, switch),
    Key("mbs", ("policy.train_micro_batch_size",)),
    Key("logprob_mbs", ("policy.logprob_batch_size",)),
    Key("prompts", ("grpo.num_prompts_per_step",)),
    Key("n", ("grpo.num_generations_per_prompt",)),
    Key("async_on", ("grpo.async_grpo.enabled",), 0, switch),
)
RULES = claims(
    """
    NR-02 BAT002 A cfg | nemo_rl/models/policy/lm_policy.py:205-223
    tp >= 4 => mbs = logprob_mbs
    with tp{tp} the micro batch {mbs} of training must be that of log probabilities, {logprob_mbs}
    adjust: logprob_mbs

    NR-03a MSH006 A cfg | nemo_rl/models/generation/vllm/vllm_generation.py:121,135
    colocated > 0 => world % (rtp·rpp) = 0
    {world} GPUs do not divide into engines of tp{rtp}·pp{rpp} = {rtp·rpp} ({world % (rtp·rpp)} left over)
    adjust: rtp

    NR-03b MSH006 A cfg | nemo_rl/models/generation/vllm/vllm_generation.py:121,135
    rep > 1 => rep % rtp = 0
    generation ep{rep} does not divide by tp{rtp} ({rep % rtp} left over)
    adjust: rep

    NR-03c MSH006 A cfg | nemo_rl/models/generation/vllm/vllm_generation.py:121,135
    rpp > 1 => engine_async > 0
    generation pp{rpp} needs policy.generation.vllm_cfg.async_engine=true

    NR-04 BAT001 A step1 | nemo_rl/algorithms/grpo.py:4669
    async_on > 0 => prompts·n % dp = 0
    {prompts}·{n} = {prompts·n} samples of a step do not divide among dp{dp} ({prompts·n % dp} left over)
    adjust: prompts
    """
)
# Generation on GPUs of its own leaves the others to the policy.
_COLOCATED = "policy.generation.colocated"
APART_FACTS = (
    Key("nodes", ("cluster.num_nodes",)),
    Key("gpn", ("cluster.gpus_per_node",)),
    Key("own_nodes", (f"{_COLOCATED}.resources.num_nodes",), 0),
    Key("own_gpus", (f"{_COLOCATED}.resources.gpus_per_node",), 0),
)
APART_LETS = (
    ("ranks", "(nodes - own_nodes)·gpn if nodes > 1 else gpn - own_gpus"),
    # What divides by 0 stays unknown: there is no dp where it is not whole.
    ("dp", "ranks // (tp·cp·pp) // (ranks % (tp·cp·pp) = 0)"),
)
APART_RULES = claims(
    """
    NR-01 MSH001 V cfg | nemo_rl/models/policy/lm_policy.py:225,233
    ranks % (tp·cp·pp) = 0
    the {ranks} GPUs that generation leaves do not divide into tp{tp}·cp{cp}·pp{pp} = {tp·cp·pp}
      ({ranks % (tp·cp·pp)} left over)
    """
)
APART_EXPERTS = claims(
    """
    MC-32 MSH002 R init | megatron/core/parallel_state.py:786
    (ep = 1 and etp = tp) or ranks % (etp·ep·pp) = 0
    the {ranks} GPUs that generation leaves do not divide into etp{etp}·ep{ep}·pp{pp} = {etp·ep·pp}
      ({ranks % (etp·ep·pp)} left over)
    """
)


def _shared(settings: Settings) -> bool:
    """Whether the policy has all GPUs of the cluster."""
    return switch(settings.get(f"{_COLOCATED}.enabled")) != 0 and not _crowded(settings)


def _apart(settings: Settings) -> bool:
    """Whether generation alone has GPUs of its own."""
    return switch(settings.get(f"{_COLOCATED}.enabled")) == 0 and not _crowded(settings)


def _crowded(settings: Settings) -> bool:
    """Whether teachers or a reward model take GPUs, too: then those of the policy are not known."""
    others = ("on_policy_distillation.non_colocated_teachers.enabled", "env.reward_model.enabled")
    return any(switch(settings.get(key)) == 1 for key in others)


def _uses(prefix: str, settings: Settings) -> bool:
    enabled = switch(settings.get(f"{prefix}.enabled"))
    sized = any(key.startswith(f"{prefix}.") and key.endswith("parallel_size") for key in settings)
    return "cluster.num_nodes" in settings and (sized if enabled is None else enabled > 0)


def _keys(prefix: str, sizes: dict[str, str]) -> tuple[Key, ...]:
    return tuple(Key(symbol, (f"{prefix}.{name}",), 1) for symbol, name in sizes.items())


_BACKEND = Backend(
    name="nemo_rl",
    title="NeMo-RL on Megatron-Core",
    role="policy",
    keys=_keys(
        _MEGATRON,
        {
            "tp": "tensor_model_parallel_size",
            "pp": "pipeline_model_parallel_size",
            "cp": "context_parallel_size",
            "ep": "expert_model_parallel_size",
            "etp": "expert_tensor_parallel_size",
        },
    ),
    world=WORLD,
    splits=SPLITS,
    constraints=(
        replace(divides(SPLITS[0], "NR-01", "MSH001", "ValueError", _POLICY), stage="cfg"),
        *RULES,
        EXPERT_RANKS,
        *HEADS,
        *EXPERTS,
    ),
    applies=lambda settings, program: _uses(_MEGATRON, settings) and _shared(settings),
    defaults_hold=configuration_read,
    facts=FACTS,
    lets=(("groups", "kv"),),
    models=("policy.model_name",),
)
_DTENSOR_BACKEND = replace(
    _BACKEND,
    name="nemo_rl_dtensor",
    title="NeMo-RL on DTensor",
    keys=_keys(_DTENSOR, {"tp": "tensor_parallel_size", "cp": "context_parallel_size"}),
    splits=(DTENSOR,),
    constraints=(
        replace(divides(DTENSOR, "NR-01", "MSH001", "ValueError", _POLICY), stage="cfg"),
        *RULES,
    ),
    applies=lambda settings, program: _uses(_DTENSOR, settings) and _shared(settings),
    lets=(),
)
_APART = replace(
    _BACKEND,
    name="nemo_rl_apart",
    title="NeMo-RL on Megatron-Core beside its generation",
    world=(),
    splits=(),
    constraints=(*APART_RULES, *RULES, *APART_EXPERTS, *HEADS, *EXPERTS),
    applies=lambda settings, program: _uses(_MEGATRON, settings) and _apart(settings),
    facts=(*FACTS, *APART_FACTS),
    lets=(*APART_LETS, ("groups", "kv")),
)
BACKENDS = (
    _BACKEND,
    _DTENSOR_BACKEND,
    _APART,
    replace(
        _APART,
        name="nemo_rl_dtensor_apart",
        title="NeMo-RL on DTensor beside its generation",
        keys=(*_DTENSOR_BACKEND.keys, Key("pp", (), 1)),
        constraints=(*APART_RULES, *RULES),
        applies=lambda settings, program: _uses(_DTENSOR, settings) and _apart(settings),
        lets=APART_LETS,
    ),
)
