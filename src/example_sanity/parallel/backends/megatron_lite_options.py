"""What Megatron Lite and verl_mlite ask of options beyond the sizes of the mesh.

Source of the rules: Megatron-LM dev, ``experimental/lite``: ``examples/verl/verl_mlite/engine`` (paths from
``verl_mlite``) and ``megatron/lite`` (paths from ``model``, ``primitive`` and ``runtime``). What the engine takes from
verl is read at the actor or, in SFT, at ``engine``.
"""

from __future__ import annotations

from example_sanity.parallel.constraint import claims
from example_sanity.parallel.keys import Key, one_of, switch

_BACKENDS = one_of("auto", "flash", "fused", "unfused", "local", "magi")


def _positive(value: object) -> int | None:
    return int(value > 0) if isinstance(value, (int, float)) else None


def _adam(value: object) -> int | None:
    return int("adam" in value.lower()) if isinstance(value, str) and value.isidentifier() else None


def facts(engine: str, optimizer: str) -> tuple[Key, ...]:
    """Return the keys of the options, at the prefix of the engine and of its optimizer."""
    inner = f"{engine}.impl_cfg"
    return (
        Key("deepep", (f"{inner}.use_deepep",), 0, switch),
        Key("packed", (f"{inner}.use_thd",), 1, switch),
        Key("own_mtp", (f"{inner}.mtp_enable",), 0, switch),
        Key("bias_rate", (f"{inner}.router_bias_rate",), 0, _positive),
        Key("known_optimizer", (f"{inner}.optimizer",), 1, one_of("dist_opt", "fsdp2")),
        Key("adam", (f"{optimizer}.optimizer",), 1, _adam),
        Key("known_attention", (f"{engine}.attention_backend_override",), 1, _BACKENDS),
        Key("magi", (f"{engine}.attention_backend_override",), 0, one_of("magi")),
        Key("known_replay", (f"{engine}.router_replay_mode",), 1, one_of("disabled", "R3")),
        Key("auto_model", (f"{engine}.model_name",), 1, one_of("auto")),
    )


REFERENCE = (
    Key("kl_loss", ("actor_rollout_ref.actor.use_kl_loss",), 0, switch),
    Key("kl_reward", ("algorithm.use_kl_in_reward",), 0, switch),
    Key(
        "lite_ref",
        ("ref@actor_rollout_ref.ref", "actor_rollout_ref.ref.strategy"),
        0,
        one_of("mlite_ref", "mlite"),
    ),
)
RULES = claims(
    """
    ML-13 MSH009 V model | model/qwen3_moe/lite/protocol.py:196
    deepep > 0 and dsv4 = 0 => etp = 1
    use_deepep runs without expert tensor parallel, but etp = {etp}

    ML-14 MSH009 V model | model/kimi_k2/lite/protocol.py:151
    with_mtp > 0 => mtp > 0
    the model has no MTP layers, so model.mtp.enable must be False

    ML-18 MSH008 S model | primitive/modules/experts.py:92,98
    moe_ffn % etp = 0
    width {moe_ffn} of an expert does not divide among etp{etp}: {moe_ffn % etp} columns are left out

    ML-19 MSH008 V model | primitive/parallel/linear.py:127,185
    mla > 0 => ffn % tp = 0
    feed-forward width {ffn} of the dense layers does not divide among tp{tp} ({ffn % tp} left over)

    ML-29 MSH009 V model | model/qwen3_moe/lite/protocol.py:177-184
    magi > 0 => gdn = 0 and cp > 1 and pp = 1 and with_mtp = 0
    magi attention needs context parallel, one pipeline stage, no MTP and no gated delta nets, but cp = {cp}, pp = {pp}

    ML-30 MSH009 V init | runtime/backends/mlite/runtime.py:73-79
    known_attention > 0
    attention_backend_override must be auto, flash, fused, unfused, local or magi

    ML-32 MSH009 V init | verl_mlite/engine/mlite_engine.py:686-693
    adam > 0
    Megatron Lite trains with optimizers of the Adam kind only

    ML-33 MSH009 V model | model/qwen3_moe/lite/protocol.py
    known_optimizer > 0
    impl_cfg.optimizer must be dist_opt or fsdp2

    ML-35 MSH009 V init | model/registry.py:77-114,174
    auto_model > 0 => experts > 0
    Megatron Lite finds no model of its own for a dense one; engine.model_name must name it

    ML-36 MSH009 N model | model/kimi_k2/lite/model.py:129
    bias_rate > 0 => mla = 0
    router_bias_rate is not implemented for this model; it must be 0

    ML-37a MSH009 V cfg | verl_mlite/engine/config.py:61-65
    known_replay > 0
    router_replay_mode must be disabled or R3

    ML-37b MSH009 V init | verl_mlite/engine/mlite_engine.py:612-615
    packed > 0
    verl trains on packed sequences only, so impl_cfg.use_thd must be True

    ML-38 MSH009 S cfg | verl_mlite/engine/mlite_engine.py:621-630
    own_mtp > 0 => with_mtp > 0
    impl_cfg.mtp_enable is overwritten by model.mtp.enable, which is False
    """
)
REFERENCE_RULES = claims(
    """
    ML-39 MSH009 AttributeError init | verl_mlite/config/ref/mlite_ref.yaml
    kl_loss + kl_reward > 0 => lite_ref > 0
    the KL term needs a reference policy on Megatron Lite: add ref@actor_rollout_ref.ref=mlite_ref
    """
)
