"""Spreads the work of a run over processes. What they find is put in order afterwards."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.core.errors import Uninspectable
from example_sanity.core.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from example_sanity.core.cache import Value
    from example_sanity.core.errors import Said
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Rule
    from example_sanity.core.runner import Run

Task = tuple[str, "tuple[type[Rule], ...]"]  # a file, and the rules that are to look at it
_FEWEST = 12
_CHUNK = 4
_PAUSE = 0.5  # seconds between two looks at whether the run is still there
_state: tuple[Run, Sequence[Task]] | None = None


class _Sent(NamedTuple):
    """An outcome on its way from a worker; exceptions do not travel well."""

    path: str
    code: str
    findings: list[Finding]
    problems: tuple[Finding, ...]
    error: Said | None
    inputs: frozenset[str]


def available() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(run: Run, tasks: Sequence[Task], jobs: int, progress: Callable[[int], None]) -> None:
    """Let ``jobs`` processes work on the tasks, and give what they find to the run. Few tasks are not worth it.

    Nothing happens where processes cannot be forked safely; the run then does the work itself.
    """
    if jobs < 2 or len(tasks) < _FEWEST or not _may_fork():
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    global _state  # noqa: PLW0603  # a forked worker finds it there, unpickled
    _state = (run, tasks)
    starts = range(0, len(tasks), _CHUNK)
    try:
        pool_of = ProcessPoolExecutor(min(jobs, len(starts)), get_context("fork"), _begin, (os.getpid(),))
        with pool_of as pool:
            for number, sent in enumerate(pool.map(_work, starts), 1):
                _receive(run, *sent)
                progress(min(number * _CHUNK, len(tasks)))
    except BrokenProcessPool:
        return
    finally:
        _state = None


def _may_fork() -> bool:
    # A fork copies no threads, and the sandbox has some once it was used.
    return hasattr(os, "fork") and threading.active_count() == 1 and "bashkit" not in sys.modules


def _begin(parent: int) -> None:
    # What a worker inherits stays to its end: it need not be looked through for what may go.
    gc.freeze()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process once ``parent`` was killed: its pipes stay open in the other workers, so it would wait for ever."""
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    os._exit(1)


def _work(start: int) -> tuple[list[_Sent], dict[str, Value]]:
    assert _state is not None
    run, tasks = _state
    sent = []
    # The rules of a family mostly look at the same: it is sent once.
    same: dict[frozenset[str], frozenset[str]] = {}
    for path, rules in tasks[start : start + _CHUNK]:
        for rule in rules:
            found = run.outcome(rule, path)
            error = found.error.said if found.error else None
            inputs = same.setdefault(found.inputs, found.inputs)
            sent.append(_Sent(path, rule.code, found.value or [], found.problems, error, inputs))
    return sent, run.hand_over()


def _receive(run: Run, sent: Sequence[_Sent], values: Mapping[str, Value]) -> None:
    if run.store:
        run.store.new_values.update(values)
    for item in sent:
        error = Uninspectable(*item.error) if item.error else None
        run.adopt(item.code, item.path, Outcome(item.findings, item.problems, error, item.inputs))
