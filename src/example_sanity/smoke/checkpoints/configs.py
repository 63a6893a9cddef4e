"""What ``config.json`` of a tiny model says, by family.

Width, depth and experts are cut down; what fused kernels insist on stays as in the real model: the heads of DeepSeek-V4 and
GLM-5, and the sizes of a head wherever it is latent, sparse or linear. Sources: transformers ``configuration_*.py``; Megatron
Lite ``model/*/config.py`` and the proxies of ``tests/smoke/workflows/checkpoint``; vLLM's MLA takes 512 + 64 only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Config = dict[str, Any]
Sizes = Mapping[str, int]

VOCABULARY = 1024
HIDDEN = 256
POSITIONS = 32768
_THETA = 10000.0
# The tokenizer gives its special tokens the first ids: end of text, begin and end of a turn, then those of images.
ENDS = {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": 2}


def _heads(sizes: Sizes) -> Config:
    """Heads and KV heads that every split of them divides: tp, Ulysses sp, and tp of the rollout."""
    kv = math.lcm(2, *(sizes.get(symbol, 1) for symbol in ("tp", "sp", "rtp")))
    return {"num_attention_heads": 2 * kv, "num_key_value_heads": kv, "head_dim": 64}


def _layers(sizes: Sizes) -> int:
    return max(2, sizes.get("pp", 1) * (sizes.get("vpp") or 1))


def _experts(sizes: Sizes) -> int:
    return math.lcm(8, sizes.get("ep", 1))


def _common(kind: str, architecture: str, sizes: Sizes) -> Config:
    return {
        "architectures": [architecture],
        "model_type": kind,
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "num_hidden_layers": _layers(sizes),
        "max_position_embeddings": POSITIONS,
        "rms_norm_eps": 1e-6,
        "initializer_range": 0.02,
        "tie_word_embeddings": bool(sizes.get("tied")),
        "dtype": "bfloat16",
        **ENDS,
    }


def _dense(kind: str, architecture: str, sizes: Sizes) -> Config:
    return {
        **_common(kind, architecture, sizes),
        **_heads(sizes),
        "intermediate_size": 512,
        "rope_parameters": {"rope_type": "default", "rope_theta": _THETA},
        "rope_theta": _THETA,
    }


def llama(sizes: Sizes) -> Config:
    """Return a dense Llama."""
    return _dense("llama", "LlamaForCausalLM", sizes)


def qwen2(sizes: Sizes) -> Config:
    """Return a dense Qwen2 or Qwen2.5."""
    config = _dense("qwen2", "Qwen2ForCausalLM", sizes)
    # Qwen2 has no head_dim of its own: hidden size over heads.
    del config["head_dim"]
    return {**config, "hidden_size": math.lcm(HIDDEN, 32 * config["num_attention_heads"])}


def qwen3(sizes: Sizes) -> Config:
    """Return a dense Qwen3."""
    return _dense("qwen3", "Qwen3ForCausalLM", sizes)


def qwen3_moe(sizes: Sizes) -> Config:
    """Return a Qwen3-MoE; ``num_experts`` under the name that loaders read, which transformers 5 no longer writes."""
    return {
        **_dense("qwen3_moe", "Qwen3MoeForCausalLM", sizes),
        "num_experts": _experts(sizes),
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 128,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
    }


def kimi_k2(sizes: Sizes) -> Config:
    """Return a Kimi-K2, whose architecture is DeepSeek-V3: latent attention, one dense layer first."""
    heads = _heads(sizes)["num_attention_heads"]
    return {
        **_common("deepseek_v3", "DeepseekV3ForCausalLM", sizes),
        **_latent(heads, rope=64, nope=128, value=128),
        **_deepseek_experts(sizes),
        "rope_parameters": {"rope_type": "default", "rope_theta": _THETA},
        "rope_theta": _THETA,
        "rope_interleave": True,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
    }


def glm5(sizes: Sizes) -> Config:
    """Return a GLM-5: latent attention with a sparse indexer, whose fused kernels know one geometry only."""
    return {
        **_common("glm_moe_dsa", "GlmMoeDsaForCausalLM", sizes),
        **_latent(64, rope=64, nope=192, value=256),
        **_deepseek_experts(sizes),
        "rope_parameters": {"rope_type": "default", "rope_theta": _THETA},
        "rope_theta": _THETA,
        "head_dim": 64,
        "qk_head_dim": 256,
        "index_head_dim": 128,
        "index_n_heads": 32,
        "index_topk": 512,
    }


def _latent(heads: int, *, rope: int, nope: int, value: int) -> Config:
    return {
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "q_lora_rank": 64,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": rope,
        "qk_nope_head_dim": nope,
        "v_head_dim": value,
    }


def _deepseek_experts(sizes: Sizes) -> Config:
    return {
        "intermediate_size": 512,
        "moe_intermediate_size": 128,
        "first_k_dense_replace": 1,
        "n_routed_experts": _experts(sizes),
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "num_nextn_predict_layers": 0,
    }


def deepseek_v4(sizes: Sizes) -> Config:
    """Return a DeepSeek-V4 with a hash-routed layer, a top-k routed one and one for multi-token prediction.

    The keys stand twice where transformers and the release spell them differently.
    """
    layers = _layers(sizes)
    return {
        **_common("deepseek_v4", "DeepseekV4ForCausalLM", sizes),
        "num_attention_heads": 64,
        "num_key_value_heads": 1,
        "head_dim": 512,
        "qk_rope_head_dim": 64,
        "partial_rotary_factor": 0.125,
        "q_lora_rank": 64,
        "o_lora_rank": 64,
        "o_groups": 8,
        "moe_intermediate_size": 128,
        "n_routed_experts": _experts(sizes),
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.5,
        "scoring_func": "sqrtsoftplus",
        "swiglu_limit": 10.0,
        "rope_theta": _THETA,
        "compress_rope_theta": 160000.0,
        "compress_ratios": [4] * layers,
        "layer_types": ["compressed_sparse_attention"] * layers,
        "num_hash_layers": 1,
        "mlp_layer_types": ["hash_moe"] + ["moe"] * (layers - 1),
        "sliding_window": 128,
        "hc_mult": 4,
        "hc_sinkhorn_iters": 20,
        "index_head_dim": 128,
        "index_n_heads": 64,
        "index_topk": 512,
        "num_nextn_predict_layers": 1,
    }


def qwen3_5_moe(sizes: Sizes) -> Config:
    """Return a Qwen3.5-MoE: a gated delta net and full attention in turn, and the smallest vision tower there can be."""
    layers = _layers(sizes)
    linear = math.lcm(16, sizes.get("tp", 1) * sizes.get("cp", 1))
    text = {
        **_common("qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", sizes),
        **_heads(sizes),
        "head_dim": 256,
        "linear_num_key_heads": linear,
        "linear_num_value_heads": 2 * linear,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "layer_types": [("linear_attention", "full_attention")[place % 2] for place in range(layers)],
        "num_experts": _experts(sizes),
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 128,
        "shared_expert_intermediate_size": 128,
        "partial_rotary_factor": 0.25,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": _THETA,
            "partial_rotary_factor": 0.25,
            "mrope_section": [11, 11, 10],
            "mrope_interleaved": True,
        },
    }
    del text["architectures"]
    return {
        **ENDS,
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "dtype": "bfloat16",
        "tie_word_embeddings": False,
        "text_config": text,
        "vision_config": _VISION,
        **{name: VISION_TOKENS.index(token) + FIRST_VISION_TOKEN for name, token in _VISION_NAMES.items()},
    }


VISION_TOKENS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
FIRST_VISION_TOKEN = 3
_VISION_NAMES = {
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
}
_VISION: Config = {
    "model_type": "qwen3_5_moe_vision",
    "depth": 1,
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_heads": 2,
    "in_channels": 3,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": HIDDEN,
    "num_position_embeddings": 64,
}

CONFIGS: Mapping[str, Callable[[Sizes], Config]] = {
    "deepseek_v4": deepseek_v4,
    "glm5": glm5,
    "kimi_k2": kimi_k2,
    "qwen3_5_moe": qwen3_5_moe,
    "qwen3_moe": qwen3_moe,
    "qwen3": qwen3,
    "qwen2": qwen2,
    "llama": llama,
}
