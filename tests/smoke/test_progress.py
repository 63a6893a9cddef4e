"""What is shown while a launcher runs."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from example_sanity.smoke import progress
from example_sanity.smoke.progress import Live, Plain, describe
from example_sanity.smoke.running import Silent
from example_sanity.smoke.steps import Step
from smoke.runs import plan


class Job:
    """A job that only says where it is."""

    pid: int | None = None

    def __init__(self, where: str, number: str | None) -> None:
        self.where, self.number = where, number

    def poll(self) -> int | None:
        return 0

    def has_begun(self) -> bool:
        return True

    def stop(self) -> None:
        """Stop nothing."""


STEP = Step(1, loss=6.974123, grad_norm=10.25, reward=0.5, seconds=19.4)


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (STEP, "step 1: loss 6.974, grad norm 10.25, reward 0.5 (19 s)"),
        (Step(2, loss=1e-9, seconds=3.0), "step 2: loss 1e-09 (3 s)"),
        (Step(3, non_finite=("train/loss",)), "step 3: train/loss not finite"),
    ],
)
def test_a_step_in_words(step: Step, text: str) -> None:
    assert describe(step) == text


def test_without_a_terminal_there_is_a_line_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = progress.watcher()
    assert isinstance(watcher, Plain)
    watcher.begin(plan(), Job("slurm", "4711"))
    watcher.tick(1.0, "some line")
    watcher.step(STEP)
    watcher.end()
    out, err = capsys.readouterr()

    assert out == ""
    assert err == (
        "run.sh: started, slurm as job 4711; 2 steps are wanted\n"
        "step 1: loss 6.974, grad norm 10.25, reward 0.5 (19 s)\n"
    )


def test_on_a_terminal_the_last_line_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(progress.watcher(), Live)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress.watcher(), Plain)


def test_a_live_line_is_cut_and_holds_no_terminal_codes() -> None:
    shown = io.StringIO()
    live = Live(Console(file=shown, force_terminal=True, width=40, color_system=None))
    live.begin(plan(), Job("local", None))
    live.tick(12.0, "[bold]a \x07line[/bold] " + "x" * 200)
    live.step(STEP)
    live.end()
    text = shown.getvalue()

    assert "run.sh: started, local; 2 steps" in text
    assert "step 1: loss 6.974" in text
    assert "\x07" not in text
    assert "x" * 40 not in text


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    silent = Silent()
    silent.begin(plan(), Job("local", None))
    silent.step(STEP)
    silent.tick(1.0, "line")
    silent.end()

    assert capsys.readouterr() == ("", "")
