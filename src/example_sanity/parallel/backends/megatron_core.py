"""What Megatron-Core enforces whoever calls it: ``core/parallel_state.py``, TransformerConfig and the model.

Symbols: ``first`` and ``last`` are the layers of an uneven first or last stage, ``emb`` and ``loss`` 1 where those
count as layers, ``layout`` the stages of an explicit layout, ``chunks`` the model chunks of a rank, ``groups`` the
query groups, ``hybrid`` 1 for a hybrid layer pattern; 0 is "not set".
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from example_sanity.parallel.constraint import Split, claims, divides

DENSE = Split("dp", ("tp", "cp", "pp"), ("tp", "cp", "dp", "pp"))
EXPERT = Split("edp", ("etp", "ep", "pp"), ("etp", "ep", "edp", "pp"))
SPLITS = (DENSE, EXPERT)

STATE, CONFIG = "megatron/core/parallel_state.py", "megatron/core/transformer/transformer_config.py"
BLOCK = "megatron/core/transformer/transformer_block.py"

_EXPERT_RANKS = divides(EXPERT, "MC-32", "MSH002", "RuntimeError", f"{STATE}:786")
# Without expert parallel ranks this is the dense mesh again, less cp: what breaks it breaks the dense one, said there.
EXPERT_RANKS = replace(
    _EXPERT_RANKS,
    holds=lambda sizes: (sizes["ep"] == 1 and sizes["etp"] == sizes["tp"]) or EXPERT.whole(sizes),
    symbols=(*_EXPERT_RANKS.symbols, "tp"),
)
RANKS = (
    divides(DENSE, "MC-31", "MSH001", "RuntimeError", f"{STATE}:734"),
    *claims(
        """
        MC-33 MSH001 R init | 740
        vpp > 0 => pp > 1
        vpp = {vpp} needs more than one pipeline stage, but pp = {pp}
        """,
        f"{STATE}:",
    ),
    EXPERT_RANKS,
)

HEADS = claims(
    """
    MC-40 MSH008 V model | 1490
    heads % tp = 0
    {heads} attention heads do not divide among tp{tp} ({heads % tp} left over)

    MC-41 MSH008 V model | 1505
    mla = 0 => groups % tp = 0 or tp % groups = 0
    {groups} query groups and tp{tp}: neither divides the other

    MC-42 MSH008 A model | 1699-1711
    gdn > 0 => linear_k % tp = 0 and linear_v % tp = 0
    the gated delta net has {linear_k} key and {linear_v} value heads, which do not divide among tp{tp}

    MC-43 MSH009 A model | 1761
    dsv4 > 0 => tp = 1
    DeepSeek-V4 cannot be split over tensor parallel ranks, but tp = {tp}
    """,
    f"{CONFIG}:",
)
UNEVEN_STAGES = claims(
    """
    MC-47a MSH007 V model | 2544-2617
    layout = 0 and first + last > 0 => (layers > first + last) = (pp > (first > 0) + (last > 0))
    {layers - first - last} layers remain for {pp - (first > 0) - (last > 0)} middle stages
    adjust: last first

    MC-47b MSH007 V model | 2544-2617
    layout = 0 and first + last > 0 => (layers - first - last) % (pp - (first > 0) - (last > 0)) = 0
    {layers - first - last} layers between the first and the last stage do not divide into
      {pp - (first > 0) - (last > 0)} stages ({(layers - first - last) % (pp - (first > 0) - (last > 0))} left over)
    adjust: last first

    MC-47c MSH007 V model | 2544-2617
    layout = 0 and chunks > 1 => first % chunks = 0 and last % chunks = 0
    the first stage's {first} and the last stage's {last} layers do not divide into {chunks} model chunks
    adjust: last first
    """,
    f"{CONFIG}:",
)
EVEN_STAGES = claims(
    """
    MC-59 MSH007 A model | 141-145
    first + last + layout = 0 => (layers + emb + loss) % pp = 0
    {layers + emb + loss} layers do not divide into pp{pp} stages ({(layers + emb + loss) % pp} left over)
    adjust: last@layers//pp
    """,
    f"{BLOCK}:",
)
CHUNKS = claims(
    """
    MC-48 MSH007 A model | 168-190
    pp > 1 and chunks > 1 and first + last + layout = 0 and (layers + emb + loss) % pp = 0
      => (layers + emb + loss) // pp % chunks = 0
    {(layers + emb + loss) // pp} layers of a stage do not divide into {chunks} model chunks
      ({(layers + emb + loss) // pp % chunks} left over)
    adjust: vranks
    """,
    f"{BLOCK}:",
)
EXPERTS = claims(
    """
    MC-57 MSH002 A model | megatron/core/transformer/moe/moe_layer.py:189
    experts > 0 => experts % ep = 0
    {experts} experts do not divide among ep{ep} ({experts % ep} left over)
    """
)


def layout_stages(value: object) -> int | None:
    """Return the stages of a pipeline layout such as ``Et*3|(tt|)*29,m|L``: one more than its bars."""
    if not isinstance(value, str):
        return None
    text, count = value, 1
    while count:
        text, count = re.subn(r"\(([^()]*)\)(?:\*(\d+))?", lambda part: part[1] * int(part[2] or 1), text)
    text = re.sub(r"\|\*(\d+)", lambda part: "|" * int(part[1]), text)
    return text.count("|") + 1 if re.fullmatch(r"[EtmL*\d,|\s]+", text) else None
