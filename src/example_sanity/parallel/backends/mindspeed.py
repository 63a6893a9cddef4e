"""MindSpeed: Megatron-LM on NPUs with context parallel algorithms and schedules of its own.

Source of the rules: MindSpeed ``mindspeed/features_manager``.
"""

from __future__ import annotations

from msgspec.structs import replace

from example_sanity.parallel.backends import megatron_lm
from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, Settings, one_of, switch

_ALGORITHM = ("context-parallel-algo",)
FACTS = (
    Key("ring", _ALGORITHM, None, one_of("megatron_cp_algo")),
    Key("ulysses", _ALGORITHM, None, one_of("ulysses_cp_algo")),
    Key("hybrid_cp", _ALGORITHM, None, one_of("hybrid_cp_algo", "hybrid_adaptive_cp_algo")),
    Key("gather", _ALGORITHM, None, one_of("kvallgather_cp_algo")),
    Key("u", ("ulysses-degree-in-cp",)),
    Key("window", ("cp-window-size",), 1),
    Key("reset", ("reset-attention-mask",), 0, switch),
    Key("dual", ("schedules-method",), 0, one_of("dualpipev")),
    Key("tp_two_d", ("tp-2d",), 0, switch),
    Key("tp_x", ("tp-x",), 1),
    Key("tp_y", ("tp-y",), 1),
    Key("extend", ("moe-tp-extend-ep",), 0, switch),
)
RULES = claims(
    """
    MS-01 MSH009 A args | context_parallel/context_parallel_feature.py:40
    cp > 1 and ring > 0 => seq % (2·cp) = 0
    sequence length {seq} does not divide into 2·cp{cp} = {2·cp} chunks ({seq % (2·cp)} left over)

    MS-02a MSH009 A args | context_parallel/ulysses_context_parallel.py:27-33
    cp > 1 and ulysses > 0 => seq % cp = 0
    sequence length {seq} does not divide among cp{cp} ({seq % cp} left over)

    MS-02b MSH008 A args | context_parallel/ulysses_context_parallel.py:27-33
    cp > 1 and ulysses > 0 => heads % (cp·tp) = 0
    {heads} attention heads do not divide among cp{cp}·tp{tp} = {cp·tp} ({heads % (cp·tp)} left over)

    MS-03a MSH009 A args | context_parallel/context_parallel_feature.py:57-79
    cp > 1 and hybrid_cp > 0 => cp % u = 0 and cp // u > 1
    cp{cp} does not make rings of more than one rank with --ulysses-degree-in-cp {u}
    adjust: u

    MS-03b MSH008 A args | context_parallel/context_parallel_feature.py:57-79
    cp > 1 and hybrid_cp > 0 => heads % (u·tp) = 0
    {heads} attention heads do not divide among Ulysses {u}·tp{tp} = {u·tp} ({heads % (u·tp)} left over)

    MS-03c MSH009 A args | context_parallel/context_parallel_feature.py:57-79
    cp > 1 and hybrid_cp > 0 => seq % (2·cp) = 0
    sequence length {seq} does not divide into 2·cp{cp} = {2·cp} chunks ({seq % (2·cp)} left over)

    MS-03d MSH009 A args | context_parallel/context_parallel_feature.py:57-79
    cp > 1 and hybrid_cp > 0 and cp % u = 0 and cp // u > 1
      => window >= 1 and window < cp // u and cp // u % window = 0
    --cp-window-size {window} does not divide rings of {cp // u} ranks
    adjust: window

    MS-04 MSH009 A args | context_parallel/context_parallel_feature.py:81-92
    cp > 1 and gather > 0 => seq % ((1 if reset > 0 else 2)·cp) = 0
    sequence length {seq} does not divide into {(1 if reset > 0 else 2)·cp} chunks for cp{cp}

    MS-05a MSH007 A args | pipeline_parallel/dualpipev_feature.py:20-51
    dual > 0 => pp > 1 and vlayers + vranks = 0 and cp = 1 and tp_two_d = 0
    dualpipev needs more than one stage and neither virtual stages, context parallel nor 2-D tensor parallel,
      but pp = {pp} and cp = {cp}

    MS-05b MSH007 A args | pipeline_parallel/dualpipev_feature.py:20-51
    dual > 0 => layers >= 2·pp
    {layers} layers are fewer than two for each of pp{pp} stages of dualpipev

    MS-05c BAT004 A args | pipeline_parallel/dualpipev_feature.py:20-51
    dual > 0 => gbs // mbs // dp >= 2·pp - 1
    {gbs // mbs // dp} micro batches are fewer than the {2·pp - 1} that dualpipev needs on pp{pp} stages
    adjust: gbs

    MS-06a MSH001 A args | tensor_parallel/tp_2d.py:39-42
    tp_two_d > 0 => tp // tp_x = tp_y
    tp{tp} is not tp_x {tp_x}·tp_y {tp_y}
    adjust: tp_y tp_x

    MS-06b MSH002 A args | tensor_parallel/tp_2d.py:39-42
    tp_two_d > 0 => ep = 1
    2-D tensor parallel runs without expert parallel, but ep = {ep}

    MS-07 MSH002 A args | moe/tp_extend_ep.py:22
    extend > 0 => experts % (tp·ep) = 0
    {experts} experts do not divide among tp{tp}·ep{ep} = {tp·ep} ({experts % (tp·ep)} left over)
    """,
    "mindspeed/features_manager/",
)
# MindSpeed replaces Megatron-LM's own rule on the sequence by one for each algorithm.
CONSTRAINTS = (*(rule for rule in megatron_lm.CONSTRAINTS if rule.id != "MC-16"), *RULES)


def applies(settings: Settings, program: str | None) -> bool:
    """Return whether a launch has flags that only MindSpeed knows."""
    own = (*_ALGORITHM, "ulysses-degree-in-cp", "tp-2d", "moe-tp-extend-ep")
    return any(name in settings for name in own) or settings.get("schedules-method") == "dualpipev"


BACKENDS = (
    replace(
        megatron_lm.BACKENDS[0],
        name="mindspeed",
        title="MindSpeed",
        constraints=CONSTRAINTS,
        applies=applies,
        facts=(*megatron_lm.FACTS, *FACTS),
    ),
)
