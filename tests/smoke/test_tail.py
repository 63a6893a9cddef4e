"""The last lines that tell what a run was doing, and what is left out between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.smoke.record import Record
from example_sanity.smoke.tail import Tail
from example_sanity.smoke.verdict import Ending, judge
from smoke.runs import plan

SIGTERM = "*** SIGTERM received at time=1 on cpu 2 ***"


def kept(*lines: str) -> list[str]:
    tail = Tail()
    for number, line in enumerate(lines, 1):
        tail.feed(line, number)
    return [line.text for line in tail.lines]


def test_the_last_five_lines_are_kept() -> None:
    names = ["zero", "one", "two", "three", "four", "five"]

    assert kept(*names) == names[1:]


def test_of_a_progress_bar_the_newest_state_is_kept() -> None:
    assert kept("Loading:  10%|#   | 1/9", "ready", "Loading:  90%|### | 8/9") == [
        "ready",
        "Loading:  90%|### | 8/9",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "/lib/x.py:3: UserWarning: no fast path",
        "WARNING 12-01 10:00:00 [engine.py:3] nothing is tuned",
        "`OldProcessor` is deprecated, take `Processor`",
        "read 3 files [repeated 7x across cluster] (Ray removes repeated lines)",
        "    @     0x7f00  (unknown)  wait_for()",
        "[2026-12-01 10:00:00,015 E 11 11] logging.cc:1:     @   0x5499b5   32  Call",
        " '--seed',",
        " '42']",
        "   'metrics': {'enabled': False}}",
        "-----",
        "",
    ],
)
def test_what_tells_nothing_is_left_out(line: str) -> None:
    assert kept("building the engine", line) == ["building the engine"]


def test_the_source_below_a_warning_is_left_out_and_what_follows_is_not() -> None:
    lines = ("/lib/x.py:3: FutureWarning: it goes", "  value = old(x)", "  more", "engine is up")

    assert kept(*lines) == ["engine is up"]


def test_a_piece_of_printed_data_has_no_source_below_it() -> None:
    assert kept("  'a': 1,", "  loading shards") == ["loading shards"]


def test_a_warning_that_somebody_waits_tells() -> None:
    assert kept("WARNING: still waiting for rank 1") == ["WARNING: still waiting for rank 1"]


@given(st.lists(st.text(max_size=20)))
def test_what_is_kept_is_of_the_log_in_its_order(lines: list[str]) -> None:
    tail = Tail()
    for number, line in enumerate(lines, 1):
        tail.feed(line, number)

    numbers = [line.number for line in tail.lines]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= 5
    assert all(lines[line.number - 1].strip() == line.text for line in tail.lines)


def record(*lines: str) -> Record:
    made = Record()
    for line in lines:
        made.feed(line, 1.0)
    return made


def test_a_hang_quotes_what_was_done_last_and_not_a_warning() -> None:
    seen = record("engine is up", "reward loop is up", "WARNING [x.py:3] `Old` is deprecated")
    _, cause, _ = judge(plan(), seen, Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert (cause.line, cause.line_number) == ("reward loop is up", 2)
    assert [(line.number, line.text) for line in cause.context] == [(1, "engine is up")]


def test_where_only_warnings_are_the_last_one_is_quoted() -> None:
    _, cause, _ = judge(plan(), record("WARNING: a", "WARNING: b"), Ending(143, 300.0, is_timed_out=True))

    assert cause is not None
    assert (cause.line, cause.line_number, cause.context) == ("WARNING: b", 2, ())


@pytest.mark.parametrize("status", [None, 143])
@pytest.mark.parametrize(
    "end", [SIGTERM, "slurmstepd: error: *** JOB 7 CANCELLED AT 2026-12-01T10:00:00 ***"]
)
def test_a_run_that_was_stopped_shows_what_it_did_before(status: int | None, end: str) -> None:
    seen = record("engine is up", "first prompts", end, "Traceback (most recent call last):", "shutting down")
    _, cause, _ = judge(plan(), seen, Ending(status, 9.0))

    assert cause is not None
    assert (cause.kind, cause.line) == ("stopped", end)
    assert [line.text for line in cause.context] == ["engine is up", "first prompts"]
