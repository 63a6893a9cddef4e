"""vLLM and SGLang as servers of their own: ``vllm serve --tensor-parallel-size``, ``sglang.launch_server --tp-size``.

Source of the rules: vLLM 0.25 ``vllm/config`` and SGLang 0.5 ``sglang/srt/arg_groups``. One replica is the mesh here;
data parallel makes more of them, except SGLang's attention data parallel, which lies inside tp.
"""

from __future__ import annotations

from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, Settings, switch
from example_sanity.parallel.mesh import Backend


def _flag(symbol: str, *names: str, default: int | None = 1) -> Key:
    spelled = tuple(text for name in names for text in dict.fromkeys((name, name.replace("-", "_"))))
    return Key(symbol, spelled, default)


VLLM = claims(
    """
    VL-01 MSH008 V init | vllm/config/model.py:1212
    heads % tp = 0
    {heads} attention heads do not divide among tp{tp} ({heads % tp} left over)

    VL-02 MSH008 A model | vllm/model_executor/models/qwen3_moe.py:274-284
    mla = 0 and heads % tp = 0 => kv % tp = 0 or tp % kv = 0
    {kv} KV heads and tp{tp}: neither divides the other

    VL-05 MSH001 V args | vllm/config/parallel.py:503
    tp % dcp = 0
    tp{tp} does not divide into decode context parallel groups of {dcp} ({tp % dcp} left over)
    adjust: dcp

    VL-06 MSH001 V args | vllm/config/parallel.py:457,793
    local_dp <= dp
    data_parallel_size_local = {local_dp}, but data_parallel_size = {dp}
    adjust: local_dp
    """
)
SGLANG = claims(
    """
    SG-02 MSH001 A args | sglang/srt/arg_groups/validation_hook.py:179
    tp·pp % nodes = 0
    tp{tp}·pp{pp} = {tp·pp} ranks do not divide among {nodes} nodes ({tp·pp % nodes} left over)

    SG-03 MSH001 A args | sglang/srt/arg_groups/validation_hook.py:199
    dp > 1 and attention = 0 => nodes = 1
    dp{dp} makes replicas and needs one node, but nnodes = {nodes}; use --enable-dp-attention across nodes

    SG-04 MSH001 A args | sglang/srt/arg_groups/validation_hook.py:207
    dense_tp = 1 or dense_tp = tp
    moe-dense-tp-size = {dense_tp} must be 1 or tp{tp}
    adjust: dense_tp

    SG-05 MSH001 A args | sglang/srt/arg_groups/parallel_hook.py:159-192,326
    tp % attn_dp = 0
    tp{tp} does not divide into attention dp{attn_dp} ({tp % attn_dp} left over)

    SG-07 MSH008 A model | sglang/srt/models/qwen3_moe.py:506,512
    tp % attn_dp = 0 => heads % (tp // attn_dp) = 0
    {heads} attention heads do not divide among attention tp{tp // attn_dp} ({heads % (tp // attn_dp)} left over)
    """
)


def vllm(settings: Settings, program: str | None) -> bool:
    """Return whether a launch is a vLLM server."""
    return (program or "").startswith("vllm") and "tensor_parallel_size" in _names(settings)


def sglang(settings: Settings, program: str | None) -> bool:
    """Return whether a launch is an SGLang server."""
    named = {"tp", "tp_size", "tensor_parallel_size"} & _names(settings)
    return (program or "").startswith("sglang") and bool(named)


def _names(settings: Settings) -> set[str]:
    return {key.replace("-", "_") for key in settings}


BACKENDS = (
    Backend(
        name="vllm",
        title="vLLM",
        role="server",
        keys=(
            _flag("tp", "tensor-parallel-size", "tp"),
            _flag("pp", "pipeline-parallel-size", "pp"),
            _flag("dcp", "decode-context-parallel-size"),
        ),
        world=(),
        splits=(),
        constraints=VLLM,
        applies=vllm,
        facts=(
            _flag("dp", "data-parallel-size", "dp"),
            _flag("local_dp", "data-parallel-size-local", default=None),
        ),
        models=("model", "model-path"),
    ),
    Backend(
        name="sglang",
        title="SGLang",
        role="server",
        keys=(
            _flag("tp", "tp-size", "tensor-parallel-size", "tp"),
            _flag("pp", "pp-size", "pipeline-parallel-size"),
        ),
        world=(),
        splits=(),
        constraints=SGLANG,
        applies=sglang,
        facts=(
            _flag("dp", "dp-size", "data-parallel-size", "dp"),
            _flag("nodes", "nnodes"),
            Key("attention", ("enable-dp-attention",), 0, switch),
            _flag("stated_dp", "attn-dp-size", default=0),
            _flag("dense_tp", "moe-dense-tp-size"),
        ),
        lets=(("attn_dp", "stated_dp if stated_dp > 0 else dp if attention > 0 else 1"),),
        models=("model-path", "model"),
    ),
)
