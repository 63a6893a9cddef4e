"""What verl wants of its sources, as the table ``sources`` of its preset; see docs/verl-special-sanity.md."""

from __future__ import annotations

from typing import Any

_DEVICE = "from verl.utils.device import"

VERL_SOURCES: dict[str, Any] = {
    "licence": {
        "paths": ["*.py"],
        "notices": [
            "Copyright {year} Bytedance Ltd. and/or its affiliates",
            "Copyright {year} PRIME team and/or its affiliates",
            "Copyright {year} Individual Contributor:",
            "Copyright {year} SGLang Team",
            "Copyright {year} ModelBest Inc. and/or its affiliates",
            "Copyright {year} Amazon.com Inc and/or its affiliates",
            "Copyright (c) 2016-     Facebook, Inc",
            "Copyright {year} Meituan Ltd. and/or its affiliates",
            "Copyright (c) {year} Huawei Technologies Co., Ltd. All Rights Reserved.",
            "Copyright (c) {year}, NVIDIA CORPORATION. All rights reserved.",
            "Copyright (c) {year} BAAI. All rights reserved.",
        ],
    },
    "docstrings": {
        "files": [
            "/verl/trainer/ppo/ray_trainer.py",
            "/verl/trainer/main_ppo.py",
            "/verl/trainer/ppo/reward.py",
            "/verl/utils/reward_score/__init__.py",
            "/verl/trainer/ppo/core_algos.py",
            "/verl/experimental/agent_loop/agent_loop.py",
        ],
        "exports": ["/verl/"],
        "imported-by": ["/verl/trainer/ppo/ray_trainer.py"],
        "inherited": True,
        # The list of check_api_docs.py, as far as its names are there today.
        "allow": [
            "verl.utils.profiler.WorkerProfiler",
            "verl.utils.profiler.WorkerProfilerExtension",
            "verl.utils.profiler.log_gpu_memory_usage",
            "verl.utils.profiler.log_print",
            "verl.utils.profiler.mark_annotate",
            "verl.utils.profiler.mark_end_range",
            "verl.utils.profiler.mark_start_range",
            "verl.models.mcore.bridge.freeze_moe_router",
            "verl.models.mcore.bridge.make_value_model",
            "verl.utils.transformers_compat.flash_attn_supports_top_left_mask",
        ],
    },
    "banned": [
        {
            "names": ["DataProto"],
            "paths": ["/verl/workers/engine/"],
            "message": "engines work on TensorDict",
        }
    ],
    "devices": {
        "paths": ["/verl/"],
        # Of the lists of check_device_api_usage.py those that code needs, not a comment or a longer name.
        "exclude": [
            "/verl/utils/device.py",
            "/verl/utils/torch_functional.py",
            "/verl/plugin/platform/platform_cuda.py",
            "/verl/plugin/platform/platform_rocm.py",
            "/verl/utils/profiler/torch_profile.py",
            "/verl/utils/profiler/config.py",
            "/verl/utils/kernel/linear_cross_entropy.py",
            "/verl/single_controller/ray/base.py",
            "/verl/utils/reward_score/sandbox_fusion/utils.py",
            "/verl/third_party/torch/distributed/_state_dict_utils.py",
            "/verl/workers/engine/base.py",
            "/verl/workers/engine/fsdp/transformer_impl.py",
            "/verl/workers/engine/fsdp/fsdp_turbo_impl.py",
            "/verl/workers/engine/veomni/transformer_impl.py",
            "/verl/workers/engine/torchtitan/transformer_impl.py",
            "/verl/workers/engine/torchtitan/utils.py",
            "/verl/workers/engine/automodel/transformer_impl.py",
            "/verl/workers/rollout/trtllm_rollout/trtllm_async_server.py",
            "/verl/checkpoint_engine/",
            "/verl/models/mcore/patch.py",
        ],
        "attributes": ["cuda"],
        "strings": ["cuda", "nccl"],
        "message": "ask verl/utils/device.py",
        "rewrites": [
            {
                "find": "X.cuda()",
                "replace": "X.to(get_device_name())",
                "imports": f"{_DEVICE} get_device_name",
            },
            {"find": "torch.cuda", "replace": "get_torch_device()", "imports": f"{_DEVICE} get_torch_device"},
            {"find": "'cuda'", "replace": "get_device_name()", "imports": f"{_DEVICE} get_device_name"},
            {"find": "'nccl'", "replace": "get_nccl_backend()", "imports": f"{_DEVICE} get_nccl_backend"},
        ],
    },
    "layout": [
        {
            "tests": "tests",
            "sources": "verl",
            "depth": 1,
            "names": ["test*.py", "*_test.py"],
            "extra": [
                "special_e2e",
                "special_sanity",
                "special_standalone",
                "special_distributed",
                "special_npu",
            ],
            "files": [
                "tests/test_protocol_on_cpu.py",
                "tests/test_base_config_on_cpu.py",
                "tests/test_protocol_v2_on_cpu.py",
            ],
            "suites": ["_on_cpu", "_on_npu"],
        }
    ],
    "annotations": {"paths": ["*.py"], "exclude": ["tests/"], "changed": 0.3, "since": "origin/main"},
    "terms": [
        {
            "spellings": ["verl"],
            "everywhere": ["veRL"],
            "exclude": ["/.github/", "/.pre-commit-config.yaml"],
        },
        {
            "spellings": ["SGLang", "sglang"],
            "everywhere": ["Sglang", "sgLang", "sglAng", "sglaNg", "sglanG"],
            "exclude": ["/.github/", "/.pre-commit-config.yaml", "ascend_sglang_best_practices.rst"],
        },
    ],
    "yaml-comments": {
        "files": [
            "/verl/trainer/config/ppo_trainer.yaml",
            "/verl/trainer/config/actor/actor.yaml",
            "/verl/trainer/config/actor/dp_actor.yaml",
            "/verl/trainer/config/critic/critic.yaml",
            "/verl/trainer/config/critic/dp_critic.yaml",
            "/verl/trainer/config/ref/ref.yaml",
            "/verl/trainer/config/ref/dp_ref.yaml",
            "/verl/trainer/config/rollout/rollout.yaml",
            "/verl/trainer/config/transfer_queue/transfer_queue.yaml",
        ],
        "blank-line": True,
        "inline": False,
    },
    "generated": [
        {
            "files": [
                "verl/trainer/config/_generated_ppo_trainer.yaml",
                "verl/trainer/config/_generated_ppo_megatron_trainer.yaml",
                "verl/trainer/config/_generated_ppo_veomni_trainer.yaml",
                "verl/trainer/config/_generated_ppo_torchtitan_trainer.yaml",
            ],
            "command": "bash scripts/generate_trainer_config.sh",
        }
    ],
    "pull-request": {
        "modules": [
            *("fsdp", "megatron", "veomni", "sglang", "vllm", "trtllm", "rollout", "trainer"),
            *("tests", "training_utils", "recipe", "hardware", "deployment"),
            *("ray", "worker", "single_controller", "misc", "docker", "ci"),
            *("perf", "model", "algo", "env", "tool", "ckpt", "doc", "data", "cfg", "reward"),
            *("fully_async", "one_step_off"),
        ],
        "types": ["feat", "fix", "refactor", "chore", "test"],
        "prefixes": ["BREAKING", "N/M"],
        "template": ".github/PULL_REQUEST_TEMPLATE.md",
        "sections": ["What does this PR do?"],
    },
}
