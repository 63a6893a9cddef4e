"""BAT010: numbers of the batch chain that a launcher shows."""

from __future__ import annotations

import pytest

from helpers import Write, report

PATH = "examples/run_model_megatron.sh"
KNOBS = "TP=${TP:-1}\nGBS=${GBS:-256}\nMBS=${MBS:-2}\nNNODES=${NNODES:-1}\nNGPU=$((NNODES * 8))\n"
RUN = (
    "torchrun --nnodes=${NNODES} --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size ${TP} \\\n"
    "    --micro-batch-size ${MBS} --global-batch-size ${GBS}\n"
)
RIGHT, WRONG = "GBS / (MBS * (NGPU / TP))", "GBS / (MBS * NGPU)"
VERL = (
    "MINI=${MINI:-64}\nN=${N:-4}\nB=${B:-256}\n{shown}\n"
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp data.train_batch_size=${B} \\\n"
    "    actor_rollout_ref.actor.ppo_mini_batch_size=${MINI} actor_rollout_ref.rollout.n=${N} \\\n"
    "    trainer.nnodes=1 trainer.n_gpus_per_node=8\n"
)


def _found(write: Write, text: str) -> list[tuple[int, str]]:
    findings = report(write({PATH: text}), "batch").findings
    return [(item.span.line, item.message) for item in findings if item.code == "BAT010"]


@pytest.mark.parametrize(
    "shown",
    [
        "",
        f'ACCUM_STEPS=$(({RIGHT}))\necho "accum steps: $ACCUM_STEPS"',
        f"echo accumulation: $(({RIGHT}))",
        f"ACCUM_STEPS=$(({WRONG}))",  # nobody sees it
        f"OTHER=$(({WRONG}))\necho $OTHER",
        "ACCUM_STEPS=${ACCUM_STEPS:-4}\necho $ACCUM_STEPS",
        f"f() {{\n    ACCUM_STEPS=$(({WRONG}))\n    echo $ACCUM_STEPS\n}}\nf",
        f"if [ $TP = 1 ]; then\n    ACCUM_STEPS=$(({WRONG}))\n    echo $ACCUM_STEPS\nfi",
        f"[ $TP = 1 ] || exit 1\nexport ACCUM_STEPS=$(({WRONG}))",  # right where the launcher does not stop
    ],
)
def test_a_number_that_is_right_or_not_shown_is_silent(write: Write, shown: str) -> None:
    assert _found(write, f"{KNOBS}{shown}\n{RUN}") == []


def test_a_number_that_the_trainer_is_told_is_what_it_uses(write: Write) -> None:
    text = f"{KNOBS}ACCUM_STEPS=$(({WRONG}))\necho $ACCUM_STEPS\n{RUN}"

    assert len(_found(write, text)) == 1
    assert _found(write, text.rstrip("\n") + " --accumulation ${ACCUM_STEPS}\n") == []


MESSAGE = "with TP=2 the launcher shows {}=16, but Megatron-LM uses 32; compute it as gbs // (mbs·dp)"


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        (f'ACCUM_STEPS=$(({WRONG}))\necho "accum: $ACCUM_STEPS"', "ACCUM_STEPS"),
        (f"export GRADIENT_ACCUMULATION_STEPS=$(({WRONG}))", "GRADIENT_ACCUMULATION_STEPS"),
        (f'echo "tp=$TP, grad accum steps: $(({WRONG}))"', "grad accum steps"),
    ],
)
def test_the_world_taken_for_dp_is_right_until_tp_is_used(write: Write, shown: str, name: str) -> None:
    assert _found(write, f"{KNOBS}{shown}\n{RUN}") == [(6, MESSAGE.format(name))]


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("SAMPLES_PER_STEP=$((B * N * 1))", None),
        (
            "SAMPLES_PER_STEP=$((B * 4))",
            "with N=8 the launcher shows {}=1024, but FSDP uses 2048; compute it as b·n",
        ),
        ("SAMPLES_PER_RANK=$((MINI * N / 8))", None),
        (
            "SAMPLES_PER_RANK=$((MINI / 8))",
            "with the defaults the launcher shows {}=8, but FSDP uses 32; compute it as m·n // dp",
        ),
        ("UPDATES_PER_STEP=$((B / MINI))", None),
        (
            "UPDATES_PER_STEP=$((B * N / MINI))",
            "with the defaults the launcher shows {}=16, but FSDP uses 4; compute it as b // m",
        ),
    ],
)
def test_samples_and_updates_of_a_step(write: Write, shown: str, message: str | None) -> None:
    name = shown.partition("=")[0]
    text = VERL.replace("{shown}", f"{shown}\necho ${name}")

    assert _found(write, text) == ([(4, message.format(name))] if message else [])


def test_packed_micro_batches_have_no_number_to_compare(write: Write) -> None:
    shown = "NUM_MICRO_BATCHES=$((MINI * N / 3))\necho $NUM_MICRO_BATCHES"
    text = VERL.replace("{shown}", shown).rstrip("\n")
    micro = " actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2"

    assert len(_found(write, f"{text}{micro}\n")) == 1
    assert _found(write, f"{text}{micro} actor_rollout_ref.actor.use_dynamic_bsz=True\n") == []
