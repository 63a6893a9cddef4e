"""How far a run is, on stderr: often for a person, seldom in a log."""

from __future__ import annotations

import io
import sys

import pytest

from example_sanity import session


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "told"),
    [(io.StringIO(), [10, 20]), (Terminal(), [*range(1, 25)])],
)
def test_a_terminal_is_told_each_second_and_a_log_each_ten(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, told: list[int]
) -> None:
    now = 0
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(sys, "stderr", stream)
    show = session.progress()
    for now in range(25):
        show(now, 100)

    assert stream.getvalue().splitlines() == [f"example-sanity: {number} of 100 files" for number in told]
