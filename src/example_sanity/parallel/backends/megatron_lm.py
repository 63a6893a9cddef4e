"""Megatron-LM as one calls it: ``pretrain_gpt.py --tensor-model-parallel-size 8``, checked by its validate_args.

Source of the rules: Megatron-LM dev, ``megatron/training/arguments.py`` (validate_args) and what follows in the ranks.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import megatron_options
from example_sanity.parallel.backends.megatron_core import (
    CHUNKS,
    DENSE,
    EXPERT_RANKS,
    HEADS,
    SPLITS,
    UNEVEN_STAGES,
    layout_stages,
)
from example_sanity.parallel.constraint import claims, divides
from example_sanity.parallel.keys import Key, Settings, one_of, present, switch
from example_sanity.parallel.mesh import Backend

ARGUMENTS = "megatron/training/arguments.py"

KEYS = (
    Key("tp", ("tensor-model-parallel-size",), 1),
    Key("pp", ("pipeline-model-parallel-size",), 1),
    Key("cp", ("context-parallel-size",), 1),
    Key("ep", ("expert-model-parallel-size",), 1),
    Key("etp", ("expert-tensor-parallel-size",), "tp"),
)
MODEL = (
    Key("layers", ("num-layers",)),
    Key("heads", ("num-attention-heads",)),
    Key("kv", ("num-query-groups",)),
    Key("gqa", ("group-query-attention",), 0, switch),
    Key("mla", ("multi-latent-attention",), 0, switch),
    Key("hidden", ("hidden-size",)),
    Key("kv_channels", ("kv-channels",), 0),
    Key("experts", ("num-experts",)),
    Key("router_groups", ("moe-router-num-groups",), 0),
    Key("gdn", ("experimental-attention-variant",), 0, one_of("gated_delta_net")),
    Key("dsv4", ("experimental-attention-variant",), 0, one_of("dsv4_hybrid")),
    Key("linear_k", ("linear-num-key-heads",), 16),
    Key("linear_v", ("linear-num-value-heads",), 32),
)
STAGES = (
    Key("first", ("decoder-first-pipeline-num-layers",), 0),
    Key("last", ("decoder-last-pipeline-num-layers",), 0),
    Key("vlayers", ("num-layers-per-virtual-pipeline-stage",), 0),
    Key("vranks", ("num-virtual-stages-per-pipeline-rank",), 0),
    Key("layout", ("pipeline-model-parallel-layout",), 0, layout_stages),
    Key("emb", ("account-for-embedding-in-pipeline-split",), 0, switch),
    Key("loss", ("account-for-loss-in-pipeline-split",), 0, switch),
    Key("hybrid", ("hybrid-layer-pattern", "hybrid-override-pattern", "is-hybrid-model"), 0, present),
)
BATCH = (
    Key("mbs", ("micro-batch-size",)),
    Key("gbs", ("global-batch-size",)),
    Key("ramp", ("rampup-batch-size", "step-batch-size-schedule"), 0, present),
    Key("seq", ("seq-length",)),
    Key("optimizers", ("num-distributed-optimizer-instances",), 1),
    Key("fsdp", ("use-torch-fsdp2",), 0, switch),
    Key("pp_first", ("use-tp-pp-dp-mapping",), 0, switch),
)
RL = (
    Key("rl", ("perform-rl-step",), 0, switch),
    Key("prompts", ("grpo-prompts-per-step",), 32),
    Key("n", ("grpo-group-size",), 2),
    Key("iterations", ("grpo-iterations",), 2),
)
LETS = (
    ("groups", "kv if gqa > 0 else heads"),
    ("stage", "(layers + emb + loss) // pp"),
    # The layout and the ranks' own number win over what follows from layers per virtual stage.
    (
        "chunks",
        "vranks if vranks > 0 else layout // pp if layout > 0 else 1 if vlayers = 0 else stage // vlayers",
    ),
    ("gbs", "mbs·dp"),
    *megatron_options.LETS,
)

ARGUMENT_RULES = claims(
    """
    MC-05 BAT003 A args | 727
    mbs > 0
    micro batch size = {mbs}, but it is at least 1

    MC-06 BAT003 A args | 743-748
    ramp = 0 => gbs % (mbs·dp) = 0
    global batch {gbs} does not divide into micro batches of {mbs} on dp{dp} ({gbs % (mbs·dp)} left over)
    adjust: gbs

    MC-08 BAT003 A args | 750-765
    rl > 0 => (prompts·n·iterations) % gbs = 0
    {prompts·n·iterations} samples of a collection do not divide into global batches of {gbs}
      ({prompts·n·iterations % gbs} left over)
    adjust: gbs

    MC-09 MSH007 A args | 955-962
    (vlayers > 0) + (vranks > 0) + (layout > 0) <= 1
    only one of --num-layers-per-virtual-pipeline-stage, --num-virtual-stages-per-pipeline-rank and
      --pipeline-model-parallel-layout can be set

    MC-10 MSH007 A args | 974
    layout > 0 => layout % pp = 0
    the layout's {layout} stages do not divide among pp{pp} ranks ({layout % pp} left over)

    MC-11 MSH007 A args | 987
    vlayers > 0 => first + last = 0
    uneven first or last stages need --num-virtual-stages-per-pipeline-rank, not
      --num-layers-per-virtual-pipeline-stage

    MC-12a MSH007 A args | 1002-1008
    vlayers > 0 and first + last = 0 => (layers + emb + loss) % pp = 0
    {layers + emb + loss} layers do not divide into pp{pp} stages ({(layers + emb + loss) % pp} left over)

    MC-12b MSH007 A args | 1009-1012
    vlayers > 0 and first + last = 0 and (layers + emb + loss) % pp = 0
      => (layers + emb + loss) // pp % vlayers = 0
    {(layers + emb + loss) // pp} layers of a stage do not divide into virtual stages of {vlayers}
    adjust: vlayers

    MC-13 MSH007 A args | 1039
    vlayers + vranks + first + last + layout + hybrid = 0 => (layers + emb + loss) % pp = 0
    {layers + emb + loss} layers do not divide into pp{pp} stages ({(layers + emb + loss) % pp} left over)
    adjust: last@layers//pp

    MC-14 MSH007 A args | 1043-1053
    hybrid = 0 and chunks > 1 => pp > 1
    {chunks} model chunks per rank need more than one pipeline stage, but pp = {pp}

    MC-16 MSH009 A args | 1424-1428
    cp > 1 => seq % (2·cp) = 0
    sequence length {seq} does not divide into 2·cp{cp} = {2·cp} chunks ({seq % (2·cp)} left over)

    MC-17 MSH008 A args | 1421
    kv_channels = 0 => hidden % heads = 0
    hidden size {hidden} does not divide among {heads} heads ({hidden % heads} left over)
    adjust: heads

    MC-20 MSH002 A args | 1711-1717
    ep > 1 and experts > 0 => experts % ep = 0
    {experts} experts do not divide among ep{ep} ({experts % ep} left over)

    MC-21 MSH001 A args | 1081-1105
    fsdp > 0 => pp = 1 and ep = 1
    --use-torch-fsdp2 has neither pipeline nor expert parallel ranks, but pp = {pp} and ep = {ep}
    """,
    f"{ARGUMENTS}:",
)
IN_RANKS = claims(
    """
    MC-34 MSH002 A init | megatron/core/parallel_state.py:802
    pp_first > 0 and pp > 1 => edp = dp
    --use-tp-pp-dp-mapping needs the same dp for experts, but dp = {dp} and edp = {edp}

    MC-35 MSH001 A init | megatron/core/parallel_state.py:826
    (dp·cp) % optimizers = 0
    dp{dp}·cp{cp} = {dp·cp} ranks do not divide into {optimizers} optimizer instances
    adjust: optimizers

    MC-51 MSH009 A model | megatron/core/transformer/transformer_config.py:2965
    router_groups > 0 => experts % router_groups = 0
    {experts} experts do not divide into {router_groups} router groups ({experts % router_groups} left over)
    adjust: router_groups
    """
)
WORLD = replace(
    divides(DENSE, "MC-01", "MSH001", "AssertionError", f"{ARGUMENTS}:465-467"),
    effect="assertion",
    stage="args",
)
CONSTRAINTS = (
    WORLD,
    *ARGUMENT_RULES,
    EXPERT_RANKS,
    *IN_RANKS,
    *HEADS,
    *UNEVEN_STAGES,
    *CHUNKS,
    *megatron_options.RULES,
)
FACTS = (*MODEL, *STAGES, *BATCH, *megatron_options.FACTS)

# Flags of trainers that pass Megatron's own through; those trainers are backends of their own.
_MINDSPEED = (
    "context-parallel-algo",
    "ulysses-degree-in-cp",
    "tp-2d",
    "moe-tp-extend-ep",
    "schedules-method",
)
_OTHERS = ("actor-num-nodes", "actor-num-gpus-per-node", "rollout-batch-size", "hf-checkpoint", *_MINDSPEED)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether a launch calls Megatron-LM with its own flags."""
    sizes = any(name in settings for key in KEYS for name in key.settings)
    others = any(name in settings for name in _OTHERS) or (program or "").startswith(("vllm", "sglang"))
    return sizes and not others


BACKENDS = (
    Backend(
        name="megatron_lm",
        title="Megatron-LM",
        role="trainer",
        keys=KEYS,
        world=(),
        splits=SPLITS,
        constraints=CONSTRAINTS,
        applies=applies,
        facts=(*FACTS, *RL),
        lets=LETS,
    ),
)
