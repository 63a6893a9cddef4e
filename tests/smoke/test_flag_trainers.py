"""Plans of launchers with flags: Megatron-LM and slime."""

from __future__ import annotations

import pytest

from example_sanity.session import open_run
from example_sanity.smoke.planning import Refusal, Wish, plan
from example_sanity.smoke.preparing import prepare
from helpers import Write
from smoke.planned import HOME, planned, told

GPT = """\
TP=${TP:-8}
PP=${PP:-2}
GPUS=${GPUS:-8}
torchrun --nnodes=${NNODES:-2} --nproc_per_node=$GPUS pretrain_gpt.py \\
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \\
    --num-layers 48 --hidden-size 4096 --ffn-hidden-size 16384 --num-attention-heads 32 \\
    --group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192 \\
    --micro-batch-size 1 --global-batch-size 1024 --train-iters 500000 --lr 1e-4 --lr-warmup-iters 2000 \\
    --save /checkpoints --load /checkpoints --save-interval 500 --eval-iters 10 "$@"
"""
SLIME = """\
MODEL_ARGS=(--num-layers 36 --hidden-size 2560 --num-attention-heads 32 --group-query-attention --num-query-groups 8
    --ffn-hidden-size 9728 --kv-channels 128 --vocab-size 151936 --rotary-base 1000000)
ray job submit --address=http://127.0.0.1:8265 -- python3 train.py \\
    --actor-num-nodes 1 --actor-num-gpus-per-node ${GPUS:-8} --colocate "${MODEL_ARGS[@]}" \\
    --hf-checkpoint /root/Qwen3-4B --ref-load /root/Qwen3-4B_torch_dist --prompt-data /root/dapo.jsonl \\
    --tensor-model-parallel-size 2 --rollout-batch-size 32 --n-samples-per-prompt 8 --global-batch-size 256 \\
    --rollout-max-response-len 8192 --num-rollout 3000 --rollout-num-gpus-per-engine 2 --eval-interval 20 "$@"
"""


def _project(write: Write, text: str, name: str) -> str:
    return str(write({name: text, "example-sanity.toml": ""}) / name)


def test_a_model_of_flags_shrinks_with_its_mesh(write: Write) -> None:
    found = planned(_project(write, GPT, "run_gpt_megatron.sh"), 4)

    assert found.environment == {"TP": "2", "GPUS": "4", "NNODES": "1"}
    assert (found.kind, found.backend, found.model_family) == ("sft", "megatron_lm", "flags")
    assert (found.checkpoint, found.config) == (None, {})
    assert {name: value for name, value in told(found).items() if name not in found.environment} == {
        "num-layers": "2",
        "num-attention-heads": "4",
        "num-query-groups": "2",
        "hidden-size": "256",
        "ffn-hidden-size": "512",
        "max-position-embeddings": "256",
        "global-batch-size": "8",
        "seq-length": "256",
        "mock-data": "",
        "tokenizer-type": "NullTokenizer",
        "vocab-size": "1024",
        "train-iters": "4",
        "log-interval": "1",
        "eval-iters": "0",
        "lr-warmup-iters": "0",
        "save": "/smoke/out",
        "save-interval": "1000000",
        "load": "/smoke/none",
    }
    assert "--mock-data" in found.arguments
    assert prepare(found).data == ()


def test_flags_that_cannot_be_taken_back_are_refused(write: Write) -> None:
    text = GPT.replace('"$@"', '--data-path /data/text_document "$@"')

    with pytest.raises(Refusal) as refused:
        planned(_project(write, text, "run_gpt_megatron.sh"))
    assert str(refused.value) == (
        "run_gpt_megatron.sh:9: data-path has to go (mock data are no files), but what stands there cannot be taken back; "
        "make it depend on a variable"
    )


def test_flags_without_forwarded_arguments_are_refused_line_by_line(write: Write) -> None:
    with pytest.raises(
        Refusal, match=r"run_gpt_megatron.sh:6: num-layers is 48 and has to be 2 \(a tiny model\)"
    ):
        planned(_project(write, GPT.replace(' "$@"', ""), "run_gpt_megatron.sh"))


def test_flags_of_slime_say_what_the_tiny_checkpoint_has(write: Write) -> None:
    found = planned(_project(write, SLIME, "run_qwen3_4b_megatron.sh"), 4)
    names = told(found)

    assert (found.kind, found.backend, found.model_family) == ("rl", "slime", "qwen3")
    assert found.environment == {"GPUS": "4"}
    assert {names["hf-checkpoint"], names["ref-load"]} == {names["hf-checkpoint"]}
    assert names["hf-checkpoint"].startswith("/smoke/qwen3-")
    for flag, key in (
        ("num-layers", "num_hidden_layers"),
        ("hidden-size", "hidden_size"),
        ("vocab-size", "vocab_size"),
    ):
        assert names[flag] == str(found.config[key])
    assert (names["rollout-batch-size"], names["n-samples-per-prompt"], names["global-batch-size"]) == (
        "8",
        "2",
        "16",
    )
    assert (names["num-rollout"], names["rollout-max-response-len"]) == ("2", "64")
    assert "--skip-eval-before-train" in found.arguments
    assert "tensor-model-parallel-size" not in names
    assert "rollout-num-gpus-per-engine" not in names


def test_families_whose_flags_of_slime_are_not_known_are_refused(write: Write) -> None:
    text = SLIME.replace("/root/Qwen3-4B ", "/root/Kimi-K2 ")

    with pytest.raises(
        Refusal, match=r"trains /root/Kimi-K2, of no family .*\(qwen3, qwen3_moe, qwen2, llama\)"
    ):
        planned(_project(write, text, "run_kimi_k2_megatron.sh"))


def test_a_launcher_that_kills_by_name_needs_leave(write: Write) -> None:
    path = write({"run_qwen3_4b_megatron.sh": "pkill -9 python\n" + SLIME, "example-sanity.toml": ""})
    script = path / "run_qwen3_4b_megatron.sh"
    run = open_run([script], cache=False)

    with pytest.raises(
        Refusal, match=r"megatron.sh:1: pkill -9 python ends every such process .*--allow-kill"
    ):
        plan(run, script, Wish(1, HOME, host={}))
    assert plan(run, script, Wish(1, HOME, host={}, allow_kill=True)).backend == "slime"
