"""Lines of trainers, and what is read from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.smoke.steps import Step, clean, merge, parse


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Training Progress:   0%|          | 0/2 [00:00<?, ?it/s]",
        "step: one",
        "MLITE_MESH model=kimi ngpu=1 pp=1",
        "iteration of the loader",
        "critic-step 0: {'train/critic-loss': 1.0}",
        "this step:1 is no line of a logger",
    ],
)
def test_other_lines_are_no_steps(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (
            "step:1 - train/loss:6.974 - train/grad_norm:10.25 - train/lr:1e-06 - train/global_tokens:512",
            Step(1, loss=6.974, grad_norm=10.25),
        ),
        (
            "step:2 - actor/pg_loss:np.float64(-0.013) - actor/grad_norm:0.5 - critic/score/mean:0.25"
            " - critic/rewards/mean:0.125 - perf/max_memory_allocated_gb:3.5 - prompt_length/mean:30.0",
            Step(2, loss=-0.013, grad_norm=0.5, reward=0.125, memory_gb=3.5),
        ),
        (
            "Training Progress:  50%|█████     | 1/2 [00:10<00:10]step:1 - train/loss:1.5",
            Step(1, loss=1.5),
        ),
        (
            "Training Progress:  50%|█████     | 1/2 [00:10<00:10] step:1 - train/loss:1.5",
            Step(1, loss=1.5),
        ),
        ("step:0 - val-core/openai/gsm8k/acc/mean@1:0.0", Step(0)),
        (
            "step:3 - train/loss:nan - train/grad_norm:inf",
            Step(3, non_finite=("train/loss", "train/grad_norm")),
        ),
        (
            " [2026-08-01 10:00:00.000000] iteration        1/       4 | consumed samples:            8 |"
            " elapsed time per iteration (ms): 812.5 | learning rate: 1.000000E-06 | global batch size:     8 |"
            " lm loss: 6.974000E+00 | loss scale: 1.0 | grad norm: 10.250 | number of skipped iterations:   0 |"
            " number of nan iterations:   0 |",
            Step(1, loss=6.974, grad_norm=10.25),
        ),
        (
            " iteration        2/       4 | consumed samples: 16 | loss scale: 1.0 | grad norm: 1.0 |"
            " number of skipped iterations:   0 | number of nan iterations:   1 |",
            Step(2, grad_norm=1.0, non_finite=("number of nan iterations",)),
        ),
        (
            "[2026-08-01 10:00:00] model.py:918 - step 0: {'train/loss': 0.5, 'train/pg_loss': 0.4,"
            " 'train/grad_norm': 1.25, 'train/step': 0}",
            Step(1, loss=0.5, grad_norm=1.25),
        ),
        ("rollout 0: {'rollout/raw_reward': 0.25, 'rollout/response_lengths': 64.0}", Step(1, reward=0.25)),
    ],
)
def test_the_lines_of_trainers(line: str, step: Step) -> None:
    assert parse(line) == step


@pytest.mark.parametrize(
    ("line", "cleaned"),
    [
        ("\x1b[36m(TaskRunner pid=1234)\x1b[0m step:1 - train/loss:1.0", "step:1 - train/loss:1.0"),
        ("(WorkerDict pid=77, ip=10.0.0.2) ready", "ready"),
        ("(pid=9) (TaskRunner pid=8)  nested", " nested"),
        ("[rank0]: ValueError: no", "ValueError: no"),
        ("[default3]:[rank3]: ValueError: no", "ValueError: no"),
        ("(no prefix) of a text", "(no prefix) of a text"),
        ("  indented stays\r", "  indented stays"),
        ("\x1b]0;title\x07text", "text"),
    ],
)
def test_terminal_codes_and_prefixes_are_taken_off(line: str, cleaned: str) -> None:
    assert clean(line) == cleaned


def test_validation_is_no_step() -> None:
    step = parse("step:4 - val/loss:6.5")

    assert step is not None
    assert not step.is_complete


def test_two_lines_about_a_step_are_one_step() -> None:
    rollout, train = Step(1, reward=0.5, seconds=2.0), Step(1, loss=1.0, grad_norm=2.0, seconds=9.0)

    assert merge(rollout, train) == Step(1, loss=1.0, grad_norm=2.0, reward=0.5, seconds=9.0)
    assert merge(merge(None, train), rollout).seconds == 9.0


@given(
    number=st.integers(0, 10**6),
    loss=st.floats(allow_nan=False, allow_infinity=False),
    norm=st.floats(0, 1e6),
    ordinary=st.text(st.characters(codec="ascii", exclude_characters="\x1b"), max_size=20),
)
def test_what_the_logger_writes_is_read_back(number: int, loss: float, norm: float, ordinary: str) -> None:
    line = f"step:{number} - train/loss:{loss!r} - train/grad_norm:np.float64({norm!r})"

    assert parse(line) == Step(number, loss=loss, grad_norm=norm)
    clean(ordinary)


def test_a_number_of_a_thousand_digits_is_no_step() -> None:
    assert parse(f"step:{'9' * 5000} - train/loss:1.0") is None


@pytest.mark.parametrize("memory", ["nan", "inf"])
def test_memory_that_is_no_number_is_not_known(memory: str) -> None:
    assert parse(f"step:1 - train/loss:1.0 - perf/max_memory_allocated_gb:{memory}") == Step(1, loss=1.0)
