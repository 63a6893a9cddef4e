"""Several processes say what one says, in the same order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from example_sanity.core import workers
from example_sanity.core.finding import Finding
from helpers import Write
from spy import open_run

FILES = {f"f{number:02}.txt": "fine\n" * number + "BAD\n" for number in range(60)}


def run(root: Path, jobs: int) -> tuple[list[Finding], list[int]]:
    opened = open_run(root)
    opened.jobs = jobs
    steps: list[int] = []
    report = opened.check([opened.registry.family("spy")], progress=lambda done, _: steps.append(done))
    return list(report.findings), steps


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let work be spread although the tests have used the sandbox, and tell whether it was."""
    asked: list[bool] = []

    def may() -> bool:
        asked.append(True)
        return hasattr(os, "fork")

    monkeypatch.setattr(workers, "_may_fork", may)
    return asked


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_as_many_processes_as_you_like_agree(write: Write, forks: list[bool]) -> None:
    root = write({**FILES, "broken.txt": b"\xff", "bad.txt": "x\n"})
    alone, _ = run(root, 1)
    assert forks == []

    for jobs in (2, 3):
        together, steps = run(root, jobs)
        assert together == alone
        assert steps[-1] == 62
    assert forks == [True, True]


def test_little_work_stays_here(write: Write, forks: list[bool]) -> None:
    found, _ = run(write({"a.txt": "BAD\n"}), 4)

    assert len(found) == 1
    assert forks == []


def test_work_stays_here_where_a_fork_is_not_safe(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_may_fork", lambda: False)

    assert len(run(write(FILES), 2)[0]) == 60


def test_at_least_one_processor() -> None:
    assert workers.available() >= 1


def test_loading_every_rule_leaves_the_sandbox_out_so_that_work_can_be_spread() -> None:
    code = (
        "import sys\nfrom example_sanity import checks\n"
        "registry = checks.registry()\nregistry.rules\nregistry.loaders\n"
        "from example_sanity.core import workers\nsys.exit(not workers._may_fork())\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


ABANDONED = """
import os, time
from example_sanity.core import workers

def work(start):
    os.write(1, f"{os.getpid()}\\n".encode())  # whole, where print may write the line end alone
    time.sleep(600)

workers._work = work
workers._may_fork = lambda: True
workers.spread(None, [("a", ())] * 24, 2, print)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_no_worker_outlives_a_run_that_is_killed() -> None:
    run = subprocess.Popen([sys.executable, "-c", ABANDONED], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    pids = [int(run.stdout.readline()) for _ in range(2)]
    try:
        run.kill()
        rest, _ = run.communicate(timeout=30)  # ends when nobody holds the other end any more
    except subprocess.TimeoutExpired:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        raise

    assert rest == ""
