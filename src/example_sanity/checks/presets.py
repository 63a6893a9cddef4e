"""The conventions of the projects that we know best, as configuration tables."""

from __future__ import annotations

from typing import Any

from example_sanity.checks.verl_sources import VERL_SOURCES

PRESETS: dict[str, dict[str, Any]] = {
    "verl": {
        "naming": {"roots": ["examples"]},
        "shell": {
            "forward-arguments": ["examples"],
            "gate": [
                {
                    "command": "uv",
                    "when": ["VERL_USE_UV!=0", "DEVICE=gpu"],
                    "never": [
                        "examples/ascend_extras/",
                        "tests/special_npu/",
                        "*_npu*.sh",
                        "*ascend*.sh",
                        "*mindspeed*.sh",
                    ],
                    "reason": "the lock file resolves the CUDA backends only",
                }
            ],
        },
        # tests/special_sanity/check_docs_time_info.py
        "docs": {
            "dated": ["/docs/**/*.md", "/docs/**/*.rst"],
            "undated": [
                "/docs/README.md",
                "/docs/README_vllm0.7.md",
                "/docs/index.rst",
                "/docs/start/install.rst",
                "/docs/start/quickstart.rst",
            ],
        },
        "sources": VERL_SOURCES,
        "ignores": {
            "list": [
                {
                    "file": "tests/special_sanity/check_example_naming.py",
                    "name": "DEFAULT_IGNORE_DIRS",
                    "family": "naming",
                },
                {
                    "file": "tests/special_sanity/check_example_naming.py",
                    "name": "DEFAULT_IGNORE_FILES",
                    "family": "naming",
                },
                # Those of a search for text, which ours is not: some entries are needed for a comment.
                {
                    "file": "tests/special_sanity/check_device_api_usage.py",
                    "name": "CUDA_KEYWORD_CHECK_WHITELIST",
                },
                {
                    "file": "tests/special_sanity/check_device_api_usage.py",
                    "name": "NCCL_KEYWORD_CHECK_WHITELIST",
                },
            ]
        },
    },
    # Neither project has a naming convention for its launchers.
    "megatron-lm": {"ignore": ["naming"]},
    "slime": {"ignore": ["naming"], "workflows": {"roots": ["scripts", "examples"]}},
}
