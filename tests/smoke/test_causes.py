"""Lines that show a cause, and lines that show none."""

from __future__ import annotations

import re

import pytest

from example_sanity.smoke.cause_table import CAUSES
from example_sanity.smoke.causes import search

QUIET = [
    "",
    "WARNING: apex is not installed, falling back to torch",
    "INFO 08-01 10:00:00 attention backend: FLASH_ATTN",
    "+ echo 'CUDA out of memory'",
    "++ python3 -c 'raise ModuleNotFoundError'",
    "Exception ignored in: <function f at 0x7f>",
    "ImportError: sys.meta_path is None, Python is likely shutting down",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "subprocess.CalledProcessError: Command '['bash']' returned non-zero exit status 1.",
    "SystemExit: 2",
    "step:1 - train/loss:6.5",
    "    raise ValueError('no')",
    "DeprecationWarning: transformers requires torch>=2.4 from the next release on",
]
# One line or more for each kind, as the programs print them.
SHOWN = {
    "time-limit": [
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-08-01T10:00:00 DUE TO TIME LIMIT ***"
    ],
    "ray-not-up": [
        "Exception: Failed to get node info: Deadline Exceeded",
        "ConnectionError: Could not find any running Ray instance.",
    ],
    "missing-module": [
        "ModuleNotFoundError: No module named 'pycountry'",
        "/usr/bin/python3: No module named verl.trainer.sft_trainr",
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        "ImportError: the sparse kernels are not available. Install with `pip install sparse-kernels[cute]`.",
    ],
    "missing-command": [
        "run.sh: line 12: torchrun: command not found",
        "env: 'uv': No such file or directory",
    ],
    "missing-variable": [
        "run.sh: line 3: model: unbound variable",
        "run.sh: line 40: MODEL_PATH: set it to the folder of the checkpoint",
    ],
    "attention-backend-missing": [
        "ValueError: No dot product attention backend is available for the provided inputs.",
        "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to: the package flash_attn is missing",
    ],
    "version-window": [
        "ImportError: cannot import name 'moe_permute_and_pad_with_probs' from 'transformer_engine.pytorch'",
        "TypeError: load_lib_module() got an unexpected keyword argument 'extra_lib_paths'",
        "AttributeError: module 'torch' has no attribute 'float8'",
        "ImportError: /x/te.so: undefined symbol: _ZN3c10",
    ],
    "bad-override": [
        "Could not override 'trainer.nnode'.",
        "Key 'nnode' is not in struct",
        "In 'sft_trainer': Could not find 'actor/mlit'",
        "hydra.errors.OverrideParseException: mismatched input",
        "omegaconf.errors.ConfigAttributeError: Missing key x",
    ],
    "wrong-flag": [
        "pretrain.py: error: unrecognized arguments: --tensor-model-paralel-size 2",
        "pretrain.py: error: argument --bf16: invalid choice: 'x' (choose from 'y')",
        "pretrain.py: error: the following arguments are required: --num-layers",
    ],
    "cuda-out-of-memory": [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
    ],
    "gpu-missing": [
        "RuntimeError: No CUDA GPUs are available",
        "ValueError: Total available GPUs 0 is less than total desired GPUs 8",
    ],
    "non-finite-loss": [
        "AssertionError: found NaN in local grad norm for bucket #0",
        "loss is nan at step 3",
    ],
    "checkpoint-mismatch": [
        "RuntimeError: Error(s) in loading state_dict for GPTModel:",
        "KeyError: 'model.layers.1.mlp.experts.8.gate_proj.weight'",
    ],
    "no-network": ["OSError: We couldn't connect to 'https://huggingface.co' to load the files"],
    "missing-file": [
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.parquet'",
        "python3: can't open file '/x/train.py': [Errno 2] No such file or directory",
        "run.sh: line 3: /x/env.sh: No such file or directory",
    ],
    "no-space": ["OSError: [Errno 28] No space left on device"],
    "address-in-use": [
        "RuntimeError: The server socket has failed to listen. (errno: 98 - Address already in use)"
    ],
    "init-timeout": [
        "[rank1]:[E801] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
    ],
    "killed": ["run.sh: line 5:  4711 Killed                  python3 train.py", "exitcode  : -9 (pid: 12)"],
    "stopped": [
        "W1201 13:49:08.635 5050 torch/distributed/elastic/agent/server/api.py:739] Received 15 death signal, shutting down",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 5050 got signal: 15",
        "*** SIGTERM received at time=1796132861 on cpu 13 ***",
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-08-01T10:00:00 DUE TO PREEMPTION ***",
    ],
    "crashed": ["run.sh: line 5:  4711 Segmentation fault      python3 train.py"],
}


@pytest.mark.parametrize("line", QUIET)
def test_lines_that_show_no_cause(line: str) -> None:
    assert search([line], CAUSES) is None


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in SHOWN.items() for line in lines])
def test_each_line_shows_its_cause(kind: str, line: str) -> None:
    found = search(["fine", line], CAUSES)

    assert found is not None
    assert (found.cause.kind, found.number, found.evidence.line) == (kind, 2, line)
    assert not re.search(r"\{\w+\}", found.evidence.message + found.evidence.advice)


def test_every_kind_of_the_table_is_shown() -> None:
    assert {cause.kind for cause in CAUSES} == set(SHOWN)


def test_the_words_of_the_line_stand_in_the_message() -> None:
    found = search(["ModuleNotFoundError: No module named 'pycountry'"], CAUSES)

    assert found is not None
    assert found.evidence.message == "the module pycountry is not installed, or not on PYTHONPATH"


def test_what_was_caught_earlier_is_not_the_cause() -> None:
    lines = [
        "ModuleNotFoundError: No module named 'apex'",
        "falling back to torch",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        "run.sh: line 5:  4711 Killed                  python3 train.py",
    ]
    found = search(lines, CAUSES)

    assert found is not None
    assert found.cause.kind == "cuda-out-of-memory"


def test_of_consequences_the_first_counts() -> None:
    lines = [
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients.",
        "RuntimeError: connection reset by peer",
        "exitcode  : -9 (pid: 12)",
    ]
    found = search(lines, CAUSES)

    assert found is not None
    assert found.cause.kind == "init-timeout"


def test_an_exception_of_no_known_kind_counts_more_than_what_follows_from_it() -> None:
    lines = ["ValueError: 3 is not a multiple of 2", "exitcode  : -9 (pid: 12)"]
    found = search(lines, CAUSES)

    assert found is not None
    assert found.evidence.kind == "exception"
    assert (
        found.evidence.message == "the program ended with an exception: ValueError: 3 is not a multiple of 2"
    )


def test_a_line_of_any_length_is_looked_at_only_at_its_begin() -> None:
    found = search([f"CUDA out of memory. {'x' * 10**6}", f"{'x' * 10**6} No space left on device"], CAUSES)

    assert found is not None
    assert (found.cause.kind, len(found.line)) == ("cuda-out-of-memory", 2000)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Install with `pip install sparse-kernels[cute]`; newer ones have it.", "sparse-kernels[cute]"),
        ("Using this requires Accelerate: `pip install 'accelerate>=0.26.0'`", "accelerate>=0.26.0"),
        ("Please install it: pip install flash-linear-attention.", "flash-linear-attention"),
        ("Please pip install -U triton, or remove it", "-U triton"),
        ("run pip install -r requirements/gpu.txt", "-r requirements/gpu.txt"),
    ],
)
def test_what_the_program_wants_to_be_installed_is_the_advice(said: str, wanted: str) -> None:
    lines = ["ImportError: cannot import name 'DSA' from 'cudnn'", f"ImportError: nothing there. {said}"]
    found = search(lines, CAUSES)

    assert found is not None
    assert (found.cause.kind, found.number) == ("missing-module", 2)
    assert found.evidence.advice == f"the program asks for it itself: pip install {wanted}"


TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/src/verl/trainer.py", line 12, in fit',
    "    self.step()",
    "    ^^^^^^^^^^^",
    '  File "/env/lib/python3.12/site-packages/jinja2/environment.py", line 942, in handle_exception',
    "    raise rewrite_traceback_stack(source=source)",
    '  File "<template>", line 1, in top-level template code',
]


def test_the_advice_names_the_last_frame_outside_of_libraries() -> None:
    found = search([*TRACEBACK, "TypeError: can only concatenate str"], CAUSES)

    assert found is not None
    assert found.evidence.advice.endswith(" (raised at /src/verl/trainer.py:12, in fit)")


def test_a_traceback_of_libraries_alone_has_its_last_frame_named() -> None:
    found = search(
        [TRACEBACK[0], *TRACEBACK[4:6], "TypeError: f() got an unexpected keyword argument 'x'"], CAUSES
    )

    assert found is not None
    assert found.cause.kind == "version-window"
    assert found.evidence.advice.endswith("jinja2/environment.py:942, in handle_exception)")


def test_a_frame_of_an_earlier_traceback_is_not_that_of_a_later_exception() -> None:
    found = search([*TRACEBACK, "TypeError: caught", "", "ValueError: no traceback of its own"], CAUSES)

    assert found is not None
    assert found.evidence.advice.endswith("is where to look")


def test_an_exception_that_says_more_than_sigterm_is_not_hidden_by_it() -> None:
    lines = [
        "ValueError: 3 is not a multiple of 2",
        "Process 5050 got signal: 15",
        "*** SIGTERM received at time=1 ***",
    ]
    found = search(lines, CAUSES)

    assert found is not None
    assert found.evidence.kind == "exception"
