"""Computations remember what they looked at, also what others had looked at for them."""

from __future__ import annotations

import pytest

from example_sanity.core import system
from example_sanity.core.errors import Uninspectable
from example_sanity.core.trace import Trace

PROBLEM = system.problem("SYS001", "a.sh", "cannot read")


def test_inputs_and_problems_reach_all_who_asked() -> None:
    trace = Trace()

    def inner() -> int:
        trace.note("file:a")
        trace.note_problem(PROBLEM)
        return 1

    def outer() -> int:
        trace.note("file:b")
        return int(trace.once("inner", inner).get()) + 1

    first = trace.once("first", outer)
    second = trace.once("second", outer)  # what it looks at was worked out before

    assert (first.get(), second.get()) == (2, 2)
    assert first.inputs == second.inputs == {"file:a", "file:b"}
    assert first.problems == second.problems == (PROBLEM,)


def test_an_error_is_remembered_and_raised_again() -> None:
    trace = Trace()
    calls = []

    def broken() -> None:
        calls.append(1)
        trace.note("file:a")
        raise Uninspectable("SYS002", "no text")

    for _ in range(2):
        with pytest.raises(Uninspectable, match="no text"):
            trace.once("broken", broken).get()
    assert calls == [1]
    assert trace.once("broken", broken).inputs == {"file:a"}


def test_other_errors_pass_and_leave_nothing_behind() -> None:
    trace = Trace()

    with pytest.raises(ZeroDivisionError):
        trace.once("x", lambda: 1 / 0)

    trace.note("file:a")  # belongs to nobody
    assert trace.once("y", lambda: 1).inputs == frozenset()
