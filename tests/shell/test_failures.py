"""Public failures of the kinds K12 (shell text) and K13 (environment), each with an input of our own.

Every row is a launcher that is caught at the right line, and its corrected twin, which is silent.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from helpers import Write, report

SCRIPT = "examples/ppo/run_qwen3_8b_fsdp.sh"
JOB = "ray job submit --runtime-env-json='{{\"env_vars\": {{{}}}}}' -- python3 train.py\n"
ONE = JOB.format('"A": "1"')
BOTH = JOB.format('"A": "1", "NCCL_DEBUG": "INFO"')
FSDP = "python3 -m verl.trainer.main_ppo model_engine=fsdp\n"
MAIN = "python3 -m verl.trainer.main_ppo model_engine={}\n"
CONNECTIONS = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
TWICE = "torchrun train.py \\\n    --lr 1e-6 \\\n{}    --epochs 2\n"


class Row(NamedTuple):
    """A launcher that fails, the line and the rule, and the launcher done right."""

    bad: str
    expected: str
    good: str


ROWS = {
    "K12-01 a quote is missing": Row(
        'srun bash -c "python3 train.py --name $RUN\necho done\n',
        "1 SYS003",
        'srun bash -c "python3 train.py --name $RUN"\necho done\n',
    ),
    "K12-01 an array is not closed": Row(
        'ARGS=(\n    --a 1\n    --b 2\npython3 train.py "${ARGS[@]}"\n',
        "1 SYS003",
        'ARGS=(\n    --a 1\n    --b 2\n)\npython3 train.py "${ARGS[@]}"\n',
    ),
    "K12-01 a variable is quoted twice": Row(
        "RUN=ppo\npython3 train.py --name \"'$RUN'\"\n",
        "2 SHL006",
        'RUN=ppo\npython3 train.py --name "$RUN"\n',
    ),
    "K12-01 quotes are escaped": Row(
        'RUN=ppo\nARGS="--name \\"$RUN\\""\npython3 train.py $ARGS\n',
        "2 SHL006",
        'RUN=ppo\nARGS="--name $RUN"\npython3 train.py $ARGS\n',
    ),
    "K12-03 all lines end in CRLF": Row(
        "set -e\r\ndeepspeed train.py --a 1\r\n", "1 SYS003", "set -e\ndeepspeed train.py --a 1\n"
    ),
    "K12-03 one line ends in CRLF": Row(
        "set -e\ndeepspeed train.py --a 1\r\necho done\n",
        "2 SHL004",
        "set -e\ndeepspeed train.py --a 1\necho done\n",
    ),
    "K12-04 a space behind the backslash": Row(
        "torchrun train.py \\ \n    --lr 1e-6\n", "1 SHL001", "torchrun train.py \\\n    --lr 1e-6\n"
    ),
    "K12-07 a commented line": Row(TWICE.format("    # --output_dir out \\\n"), "3 SHL002", TWICE.format("")),
    "K12-09 a missing backslash": Row(
        "torchrun train.py \\\n    --lr 1e-6\n    --epochs 2\n",
        "3 SHL003",
        "torchrun train.py \\\n    --lr 1e-6 \\\n    --epochs 2\n",
    ),
    "K12-11 a placeholder in an assignment": Row(
        "CHECKPOINT=<path/to/checkpoint>\npython3 train.py $CHECKPOINT\n",
        "1 SYS003",
        "CHECKPOINT='<path/to/checkpoint>'\npython3 train.py $CHECKPOINT\n",
    ),
    "K12-11 a placeholder of several words": Row(
        "python3 train.py \\\n    --load <path of the checkpoint> \\\n    --lr 1e-6\n",
        "2 SHL016",
        'python3 train.py \\\n    --load "${CHECKPOINT:?}" \\\n    --lr 1e-6\n',
    ),
    "K12-13 a semicolon": Row(
        "python3 train.py --data a.jsonl:0.5;b.jsonl:0.5\n",
        "1 SHL017",
        "python3 train.py --data 'a.jsonl:0.5;b.jsonl:0.5'\n",
    ),
    "K12-13 a generated command line": Row(
        'CMD="python3 train.py --data a:1;b:2"\nbash -c "$CMD"\n',
        "1 SHL017",
        'CMD="python3 train.py --data \'a:1;b:2\'"\nbash -c "$CMD"\n',
    ),
    "K13-01 exported after Ray was started": Row(
        f"ray start --head\nexport VLLM_LOGGING_LEVEL=DEBUG\n{FSDP}",
        "2 SHL011",
        f"export VLLM_LOGGING_LEVEL=DEBUG\nray start --head\n{FSDP}",
    ),
    "K13-01 Ray runs elsewhere": Row(
        "export NCCL_DEBUG=INFO\nray job submit --address=$HEAD -- python3 train.py\n",
        "1 SHL011",
        f"export NCCL_DEBUG=INFO\n{BOTH}",
    ),
    "K13-03 not in the runtime environment": Row(
        f"export NCCL_DEBUG=INFO\n{ONE}",
        "1 SHL011",
        f"export NCCL_DEBUG=INFO\n{BOTH}",
    ),
    "K13-05 retired": Row(
        "export VLLM_ATTENTION_BACKEND=FLASH_ATTN\npython3 train.py\n",
        "1 SHL012",
        "export VLLM_LOGGING_LEVEL=DEBUG\npython3 train.py\n",
    ),
    "K13-07 with FSDP2": Row(
        CONNECTIONS + MAIN.format("fsdp2"), "1 SHL014", CONNECTIONS + MAIN.format("megatron")
    ),
    "K13-07 lacking": Row(
        "torchrun pretrain_gpt.py \\\n    --tensor-model-parallel-size 2\n",
        "1 SHL014",
        f"{CONNECTIONS}torchrun pretrain_gpt.py \\\n    --tensor-model-parallel-size 2\n",
    ),
    "K13-09 behind the command": Row(
        "swift sft --model m \\\n    NPROC_PER_NODE=8\n", "2 SHL005", "NPROC_PER_NODE=8 swift sft --model m\n"
    ),
    "K13-09 behind torchrun's program": Row(
        "torchrun train.py --lr 1e-6 \\\n    NPROC_PER_NODE=8\n",
        "2 SHL005",
        "NPROC_PER_NODE=8 torchrun train.py --lr 1e-6\n",
    ),
}


def _found(write: Write, text: str) -> list[str]:
    findings = report(write({SCRIPT: text}), "shell").findings
    return [f"{item.span.line} {item.code}" for item in findings]


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_failure_is_caught_where_it_is_written(write: Write, row: Row) -> None:
    assert _found(write, row.bad) == [row.expected]


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_corrected_twin_is_silent(write: Write, row: Row) -> None:
    assert _found(write, row.good) == []
