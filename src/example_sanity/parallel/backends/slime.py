"""slime: Megatron-LM's flags and checks, with the world, the rollout and the batch of ``train.py --actor-num-nodes``.

Source of the rules: slime ``utils/arguments.py``, ``utils/dp_schedule.py``, ``backends/megatron_utils/arguments.py`` and
``backends/sglang_utils/arguments.py``.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import megatron_lm
from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, Settings, present, switch

WORLD = (
    Key("nnodes", ("actor-num-nodes",), 1),
    Key("gpn", ("actor-num-gpus-per-node",), 8),
)
# slime sets these two where Megatron-LM leaves them open; they win over its keys by standing first.
DEFAULTS = (
    Key("mbs", ("micro-batch-size",), 1),
    Key("seq", ("seq-length",), 4096),
)
ROLLOUT = (
    Key("prompts", ("rollout-batch-size",)),
    Key("n", ("n-samples-per-prompt",), 1),
    Key("steps", ("num-steps-per-rollout",), 0),
    Key("sampled", ("over-sampling-batch-size",)),
    Key("dynamic", ("use-dynamic-batch-size",), 0, switch),
    Key("tokens", ("max-tokens-per-gpu",), 0),
    Key("engine", ("rollout-num-gpus-per-engine",), 1),
    Key("rpp", ("sglang-pp-size", "sglang-pipeline-parallel-size"), 1),
    Key("rdp", ("sglang-dp-size", "sglang-data-parallel-size"), 1),
    Key("colocated", ("colocate",), 0, switch),
    Key("rollout_gpus", ("rollout-num-gpus",), 0),
    Key("moe_ffn", ("moe-ffn-hidden-size",)),
    Key("rope", ("rotary-base",)),
    Key("untied", ("untie-embeddings-and-output-weights",), 0, switch),
    Key("gather", ("allgather-cp",), 0, switch),
    Key("own_engines", ("sglang-config",), 0, present),
    Key("dp_attention", ("sglang-enable-dp-attention",), 0, switch),
)
LETS = (
    ("gbs", "prompts·n // steps"),
    *megatron_lm.LETS,
    ("rollouts", "prompts·n"),
    ("group", "pp if chunks > 1 else 1"),
    ("rtp", "engine // rpp"),
    ("needed", "world if colocated > 0 else world + rollout_gpus"),
)

RULES = claims(
    """
    SL-03 MSH007 A cfg | slime/backends/megatron_utils/arguments.py:90
    pp = 1 => first + last = 0
    an uneven first or last stage needs more than one stage, but pp = 1

    SL-11 MSH006 wasteful init | slime/ray/rollout.py:1035
    colocated = 0 and own_engines = 0 and rollout_gpus > 0 => rollout_gpus % engine = 0
    {rollout_gpus} rollout GPUs do not divide into engines of {engine}: {rollout_gpus % engine} stay idle
    adjust: rollout_gpus engine

    SL-06 BAT005 A cfg | slime/utils/arguments.py:1867
    dynamic > 0 => tokens > 0
    --use-dynamic-batch-size needs --max-tokens-per-gpu

    SL-07 BAT003 A cfg | slime/utils/arguments.py:1971
    steps > 0 => gbs = prompts·n // steps
    global batch {gbs}, but {prompts}·{n} samples in {steps} steps make {prompts·n // steps} each
    adjust: gbs

    SL-08 BAT009 A cfg | slime/utils/arguments.py:1988
    sampled >= prompts
    over-sampling batch {sampled} is smaller than the rollout batch {prompts}
    adjust: sampled

    SL-10a MSH006 A cfg | slime/backends/sglang_utils/arguments.py:175
    engine % rpp = 0
    {engine} GPUs of a rollout engine do not divide into sglang pp{rpp} ({engine % rpp} left over)
    adjust: rpp engine

    SL-10b MSH006 A cfg | slime/backends/sglang_utils/arguments.py:184
    rdp > 1 => dp_attention > 0
    sglang dp{rdp} needs --sglang-enable-dp-attention

    SL-12a BAT004 A step1 | slime/utils/dp_schedule.py:135-139
    rollouts >= gbs
    {prompts}·{n} = {rollouts} samples of a rollout make no step with global batch {gbs}
    adjust: gbs

    SL-12b BAT007 wasteful step1 | slime/utils/dp_schedule.py:135-139
    rollouts >= gbs => rollouts % gbs = 0
    {rollouts % gbs} of the {prompts}·{n} = {rollouts} samples of a rollout are dropped by global batch {gbs}
    adjust: gbs

    SL-13 BAT001 A step1 | slime/utils/dp_schedule.py:151
    gbs >= dp
    a step of {gbs} samples leaves some of dp{dp} ranks without one
    adjust: gbs

    SL-14 BAT002 A step1 | slime/utils/dp_schedule.py:79,170-184
    dynamic = 0 and gbs >= dp => ceil(gbs, mbs) % (dp·group) = 0
    {ceil(gbs, mbs)} micro batches of {mbs} in a step of {gbs} do not divide among dp{dp}·{group} = {dp·group}
      ({ceil(gbs, mbs) % (dp·group)} left over)
    adjust: gbs

    SL-15 BAT002 A step1 | slime/utils/dp_schedule.py:172-177
    dynamic > 0 and gbs >= dp => gbs >= dp·group
    a step of {gbs} samples is less than one for each of dp{dp}·{group} = {dp·group} micro batches
    adjust: gbs
    """
)
CHECKPOINT = claims(
    """
    SL-05 MSH009 V cfg | 32-49
    gather > 0 and cp > 1 => hf_dsa > 0
    --allgather-cp with cp{cp} is for models with sparse attention (DeepSeek-V3.2, GLM-5) only

    SL-04a MSH012 A cfg | 121
    layers = hf_layers
    --num-layers {layers}, but the checkpoint has {hf_layers} layers
    adjust: layers@hf_layers

    SL-04b MSH012 A cfg | 119
    hidden = hf_hidden
    --hidden-size {hidden}, but that of the checkpoint is {hf_hidden}
    adjust: hidden@hf_hidden

    SL-04c MSH012 A cfg | 120
    heads = hf_heads
    --num-attention-heads {heads}, but the checkpoint has {hf_heads}
    adjust: heads@hf_heads

    SL-04d MSH012 A cfg | 116,122
    hf_experts = 0 => ffn = hf_ffn
    --ffn-hidden-size {ffn}, but that of the checkpoint is {hf_ffn}
    adjust: ffn@hf_ffn

    SL-04e MSH012 A cfg | 123
    moe_ffn = hf_moe_ffn
    --moe-ffn-hidden-size {moe_ffn}, but that of the checkpoint is {hf_moe_ffn}
    adjust: moe_ffn@hf_moe_ffn

    SL-04f MSH012 A cfg | 139-145
    rope = hf_rope
    --rotary-base {rope}, but the checkpoint was trained with {hf_rope}
    adjust: rope@hf_rope

    SL-04g MSH012 A cfg | 125
    layers > 0 and hf_tied > 0 => untied = 0
    --untie-embeddings-and-output-weights, but the checkpoint ties its embeddings

    SL-04h MSH012 A cfg | 125
    layers > 0 and hf_tied = 0 => untied > 0
    the checkpoint has an output layer of its own, which needs --untie-embeddings-and-output-weights
    """,
    "slime/backends/megatron_utils/arguments.py:",
)
# slime packs its batches and cuts sequences itself, and its own modules do not split gated delta nets.
_NOT_HERE = {"MC-05", "MC-06", "MC-08", "MC-42", "MC-44a", "MC-44b", "MC-45", "MC-56a", "MC-56b"}
CONSTRAINTS = (*(rule for rule in megatron_lm.CONSTRAINTS if rule.id not in _NOT_HERE), *RULES, *CHECKPOINT)
_OWN = {key.symbol for key in DEFAULTS}

# What only a launch of slime's train.py has; a conversion tool takes Megatron-LM's flags too.
SIGNS = ("actor-num-nodes", "actor-num-gpus-per-node")
# Flags of miles that slime does not have.
MILES = (
    "eval-num-gpus",
    "use-rollout-indexer-replay",
    "allow-partial-train-step",
    "mlite-optimizer-backend",
    "indep-dp",
)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether a launch runs slime's trainer. One of miles that shows no flag of its own may be taken for it."""
    of_miles = "miles" in (program or "") or any(sign in settings for sign in MILES)
    return trains(settings, "megatron") and not of_miles


def trains(settings: Settings, backend: str) -> bool:
    """Return whether a launch trains on this backend of slime or miles."""
    sized = any(sign in settings for sign in SIGNS) and "debug-rollout-only" not in settings
    return sized and settings.get("train-backend", "megatron") == backend


BACKENDS = (
    replace(
        megatron_lm.BACKENDS[0],
        name="slime",
        title="slime",
        role="actor",
        world=WORLD,
        constraints=CONSTRAINTS,
        applies=applies,
        facts=(*DEFAULTS, *(key for key in megatron_lm.FACTS if key.symbol not in _OWN), *ROLLOUT),
        lets=LETS,
        checkpoints=("hf-checkpoint",),
    ),
)
