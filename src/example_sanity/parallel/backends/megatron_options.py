"""What Megatron-LM asks of options beyond the sizes of the mesh: kinds of context parallel, FSDP, hybrid patterns, hash layers.

Source of the rules: Megatron-LM dev, ``megatron/training/arguments.py`` and ``megatron/core``. Flags that a configuration
class of the core gives its name are the class's fields with dashes.
"""

from __future__ import annotations

import math
import re

from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, one_of, switch, whole_number


def product(value: object) -> int | None:
    """Return the product of a list of sizes, or of one; None where one of them is no number."""
    sizes = [whole_number(item) for item in (value if isinstance(value, list) else [value])]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None


def length(value: object) -> int | None:
    """Return how many numbers a list has."""
    return len(value) if isinstance(value, list) else 1 if whole_number(value) is not None else None


def segments(value: object) -> int | None:
    """Return the pipeline segments of a hybrid pattern such as ``M*M-|M*M-/MM``: one more than the bars before a slash."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z*|/-]+", value):
        return None
    return value.partition("/")[0].count("|") + 1


def gathers(value: object) -> int | None:
    """Return 1 where context parallel gathers keys and values in every layer, 0 where it does not in one."""
    kinds = value if isinstance(value, list) else [value]
    return int(all(str(kind).replace("_", "").lower() == "allgather" for kind in kinds))


def two_levels(value: object) -> int | None:
    """Return 1 where context parallel works on two levels in some layer."""
    return int("a2a+p2p" in (value if isinstance(value, list) else [value]))


FACTS = (
    Key("levels", ("hierarchical-context-parallel-sizes",), 0, product),
    Key("two_levels", ("cp-comm-type",), 0, two_levels),
    Key("gathered", ("cp-comm-type",), 0, gathers),
    Key("segments", ("hybrid-layer-pattern",), 0, segments),
    Key("megatron_fsdp", ("use-megatron-fsdp", "use-custom-fsdp"), 0, switch),
    Key("dtensor", ("ckpt-format",), 0, one_of("fsdp_dtensor")),
    Key("dynamic_cp", ("dynamic-context-parallel",), 0, switch),
    Key("least_cp", ("min-dynamic-context-parallel-size",), 1),
    Key("contiguous", ("cp-partition-mode",), 0, one_of("contiguous")),
    Key("dsa", ("experimental-attention-variant",), 0, one_of("dsa")),
    Key("ratios", ("csa-compress-ratios",), None, length),
    Key("mtp_layers", ("mtp-num-layers",), 0),
    Key("hashed", ("moe-n-hash-layers",), 0),
    Key("stated_group", ("microbatch-group-size-per-virtual-pipeline-stage",), 0),
    Key("ffn", ("ffn-hidden-size",)),
    Key("distributed", ("distribute-saved-activations",), 0, switch),
    Key("biased", ("disable-bias-linear",), 1, lambda value: 1 - (switch(value) or 0)),
)
LETS = (
    ("nmb", "gbs // (mbs·dp)"),
    ("in_group", "stated_group if stated_group > 0 else pp"),
)
RULES = claims(
    """
    MC-04a MSH009 A args | megatron/training/arguments.py:600-603
    levels > 0 => levels = cp
    the levels of context parallel make {levels}, not cp{cp}

    MC-04b MSH009 A args | megatron/training/arguments.py:604-607
    two_levels > 0 => levels > 0
    --cp-comm-type a2a+p2p needs --hierarchical-context-parallel-sizes

    MC-15a MSH007 A args | megatron/training/arguments.py:877-884
    segments > 1 => segments % pp = 0
    the {segments} segments of the hybrid pattern do not divide among pp{pp} ranks ({segments % pp} left over)

    MC-15b MSH007 A args | megatron/training/arguments.py:839-874
    segments > 0 => vlayers + vranks + layout + emb + loss = 0 and (segments = 1 or first + last = 0)
    a hybrid pattern says the pipeline layout itself, so no other option may

    MC-19 MSH009 A args | megatron/training/arguments.py:1103-1105,1246-1248
    fsdp + megatron_fsdp > 0 => max_connections != 1
    FSDP cannot overlap its communication with CUDA_DEVICE_MAX_CONNECTIONS={max_connections}

    MC-22 MSH009 A args | megatron/training/arguments.py:1250-1252
    megatron_fsdp > 0 => dtensor > 0
    --use-megatron-fsdp needs --ckpt-format fsdp_dtensor

    MC-23 MSH009 A args | megatron/training/arguments.py:1505
    distributed > 0 => tp > 1
    --distribute-saved-activations needs tensor parallel ranks, but tp = {tp}

    MC-24 MSH009 A args | megatron/training/arguments.py:1562-1566
    dynamic_cp > 0 => least_cp <= dp·cp
    dynamic context parallel takes {least_cp} ranks at least, but dp{dp}·cp{cp} = {dp·cp}
    adjust: least_cp

    MC-44a MSH009 V model | megatron/core/transformer/transformer_config.py:1588-1610
    cp > 1 and contiguous > 0 => dsv4 > 0 or (gdn > 0 and mla = 0)
    --cp-partition-mode contiguous with cp{cp} is for DeepSeek-V4 and gated delta nets only

    MC-44b MSH009 V model | megatron/core/transformer/transformer_config.py:1611-1616
    cp > 1 and dsv4 > 0 => contiguous > 0
    DeepSeek-V4 with cp{cp} needs --cp-partition-mode contiguous

    MC-45 MSH009 A model | megatron/core/transformer/transformer_config.py:1730-1742
    dsa > 0 and cp > 1 => gathered > 0
    sparse attention with cp{cp} needs --cp-comm-type allgather

    MC-46 MSH009 A model | megatron/core/transformer/transformer_config.py:1753-1756
    dsv4 > 0 => ratios >= layers + mtp_layers
    {ratios} compression ratios for {layers} layers and {mtp_layers} MTP layers

    MC-50 MSH007 A model | megatron/core/transformer/transformer_config.py:2882-2886
    hashed > 0 and pp > 1 and hybrid = 0 => layout > 0
    {hashed} hash layers on pp{pp} need a --pipeline-model-parallel-layout that keeps them beside the embedding

    MC-52 MSH009 A model | megatron/core/transformer/transformer_config.py:2865
    experts > 0 and biased > 0 => etp = 1
    experts with biases cannot be split over etp{etp} ranks; use --disable-bias-linear

    MC-56a BAT002 V step1 | megatron/core/pipeline_parallel/schedules.py:1254
    hybrid + ramp = 0 and pp > 1 and chunks > 1 and gbs % (mbs·dp) = 0 => in_group >= pp and in_group <= nmb
    {nmb} micro batches of a step for groups of {in_group} on pp{pp}: virtual stages need a group of pp to nmb
    adjust: stated_group@pp

    MC-56b BAT002 R step1 | megatron/core/pipeline_parallel/schedules.py:1267
    hybrid + ramp = 0 and pp > 1 and chunks > 1 and gbs % (mbs·dp) = 0 and in_group >= pp and in_group <= nmb
      => nmb % in_group = 0 or nmb % in_group >= pp
    {nmb} micro batches of a step leave {nmb % in_group} beside groups of {in_group}, fewer than pp{pp}
    adjust: stated_group@pp

    MC-58 MSH008 A model | megatron/core/tensor_parallel/layers.py:876,1227
    ffn % tp = 0
    feed-forward width {ffn} does not divide among tp{tp} ({ffn % tp} left over)
    """
)
