"""Verdicts that need no run: what a log says and how the run ended decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.smoke.record import Record
from example_sanity.smoke.verdict import Ending, judge
from smoke.runs import plan

STEP = "step:{} - train/loss:1.5 - train/grad_norm:1.0"


def record(*lines: str, seconds: float = 1.0) -> Record:
    made = Record()
    for line in lines:
        made.feed(line, seconds)
    return made


def test_silence_until_the_limit_is_a_hang() -> None:
    verdict, cause, _ = judge(plan(), record("waiting for rank 1"), Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert (verdict, cause.kind, cause.line) == ("failed", "hang", "waiting for rank 1")
    assert cause.message == "the run was silent for its last 299 s of 300 s, after 0 steps of 2"


def test_a_hang_after_a_failure_of_one_process_shows_that() -> None:
    seen = record("ValueError: rank 1 has no data", "waiting")
    _, cause, _ = judge(plan(), seen, Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert (cause.kind, cause.line_number) == ("hang", 1)
    assert cause.message.endswith(
        "before that: the program ended with an exception: ValueError: rank 1 has no data"
    )


def test_a_run_that_still_works_at_its_limit_does_not_hang() -> None:
    seen = record(STEP.format(1), seconds=299.0)
    _, cause, _ = judge(plan(), seen, Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert cause.kind == "time-limit"
    assert cause.message == (
        "the time limit of 300 s ended the run after 1 step of 2, while it was still at work"
    )


def test_a_loss_that_is_not_finite_counts_more_than_how_the_run_ended() -> None:
    seen = record(STEP.format(1), "step:2 - train/loss:nan - train/grad_norm:1.0", "CUDA out of memory")
    verdict, cause, _ = judge(plan(), seen, Ending(1, 9.0))

    assert cause is not None
    assert (verdict, cause.kind, cause.line_number) == ("failed", "non-finite-loss", 2)


def test_a_killed_process_that_failed_before_has_that_cause() -> None:
    _, cause, _ = judge(plan(), record("CUDA out of memory"), Ending(137, 9.0))

    assert cause is not None
    assert cause.kind == "cuda-out-of-memory"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(137, "killed"), (139, "crashed"), (134, "crashed"), (143, "stopped"), (130, "stopped")],
)
def test_the_signal_of_the_launcher_is_a_cause(status: int, kind: str) -> None:
    _, cause, _ = judge(plan(), record("hello"), Ending(status, 9.0))

    assert cause is not None
    assert (cause.kind, cause.line) == (kind, "hello")


@given(steps=st.integers(0, 6), status=st.sampled_from([0, 1, 137]), wanted=st.integers(1, 4))
def test_only_enough_steps_and_status_0_pass(steps: int, status: int, wanted: int) -> None:
    seen = record(*(STEP.format(number) for number in range(1, steps + 1)))
    verdict, cause, _ = judge(plan(steps=wanted), seen, Ending(status, 9.0))

    assert (verdict == "passed") == (status == 0 and steps >= wanted)
    assert (cause is None) == (verdict == "passed")


def test_a_step_that_is_printed_twice_is_told_once_and_stands_where_it_was_first() -> None:
    seen = record("loading")

    assert seen.feed("step:1 - val/loss:2.0", 1.0) is None
    assert seen.feed(STEP.format(1), 2.0) is not None
    assert seen.feed(STEP.format(1), 3.0) is None
    assert [(step.number, step.seconds) for step in seen.steps] == [(1, 2.0)]
    assert seen.place(seen.steps[0]) == (STEP.format(1), 3)


SIGTERM = "torch.distributed.elastic.multiprocessing.api.SignalException: Process 5050 got signal: 15"


def test_what_stands_before_a_step_was_survived() -> None:
    lines = ("ImportError: cannot import name 'DSA' from 'cudnn'", STEP.format(1), "ValueError: no data")
    _, cause, _ = judge(plan(), record(*lines), Ending(1, 9.0))

    assert cause is not None
    assert (cause.kind, cause.line_number) == ("exception", 3)


@pytest.mark.parametrize(
    ("lines", "kind", "message"),
    [
        ([], "no-step-line", "the log has no optimizer step"),
        (["ModuleNotFoundError: No module named 'x'"], "missing-module", "the module x is not installed"),
        ([SIGTERM], "stopped", "something outside ended the run"),
        ([STEP.format(1)], "too-few-steps", "the log ends after 1 optimizer step, 2 were asked for"),
        ([STEP.format(1), SIGTERM], "stopped", "something outside ended the run"),
        (
            [STEP.format(1), STEP.format(2), "OSError: [Errno 28] No space left on device"],
            "no-space",
            "there is no",
        ),
    ],
)
def test_a_log_alone_is_not_said_to_have_ended_with_status_0(
    lines: list[str], kind: str, message: str
) -> None:
    verdict, cause, _ = judge(plan(), record(*lines), Ending(None, 0.0))

    assert cause is not None
    assert (verdict, cause.kind) == ("failed", kind)
    assert cause.message.startswith(message)


def test_a_log_that_was_cut_may_be_of_a_run_that_had_not_ended() -> None:
    _, cause, _ = judge(plan(), record("loading"), Ending(None, 0.0))

    assert cause is not None
    assert cause.advice.startswith("see whether the run had ended when the log was taken")


def test_a_log_alone_passes_with_all_its_steps_although_its_end_was_cut() -> None:
    lines = ("ValueError: caught", STEP.format(1), STEP.format(2), SIGTERM)

    assert judge(plan(), record(*lines), Ending(None, 0.0)).verdict == "passed"


@pytest.mark.parametrize(
    ("steps", "advice"), [(0, "the start alone"), (1, "or fewer --steps"), (2, "all steps are made")]
)
def test_the_advice_at_the_limit_says_what_took_the_time(steps: int, advice: str) -> None:
    seen = record("loading", *(STEP.format(number) for number in range(1, steps + 1)), seconds=299.0)
    _, cause, _ = judge(plan(), seen, Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert cause.kind == "time-limit"
    assert advice in cause.advice
