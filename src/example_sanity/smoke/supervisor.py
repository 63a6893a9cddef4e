"""Runs one command and leaves nothing of it behind. Started as a file by ``local``; imports nothing of ours.

Usage: ``python supervisor.py GRACE COMMAND...``. The exit status is that of the command, 128 + signal where one ended it.
When the command has ended, on SIGTERM, and when the parent dies, every descendant gets SIGTERM and after GRACE seconds
SIGKILL. On Linux that includes those in groups and sessions of their own (a Ray that the command started): the kernel
makes this process the parent of orphans below it. Elsewhere it is the process group of the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

# <linux/prctl.h>
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_KILL_SECONDS = 10.0
_PROC = Path("/proc")
_IS_LINUX = (_PROC / "self/stat").exists()


class Stop(Exception):
    """SIGTERM or SIGINT came."""


def main(arguments: list[str]) -> int:
    """Run the command of the arguments and return its exit status."""
    grace, command = float(arguments[0]), arguments[1:]
    if _IS_LINUX:
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    process = child = None
    try:
        # Kept: an object that is dropped may bury its process, and take away the status.
        process = subprocess.Popen(command, start_new_session=True)
        child = process.pid
        status = process.returncode = _wait_for(child)
    except Stop:
        status = 128 + signal.SIGTERM
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    end_all(child, grace)
    return status


def _stop(*_: object) -> NoReturn:
    raise Stop


def _wait_for(child: int) -> int:
    """Wait for the command, and bury the orphans that end before it."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def end_all(child: int | None, grace: float) -> None:
    """End everything below this process: SIGTERM, and SIGKILL after ``grace`` seconds."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _KILL_SECONDS)):
        until = time.monotonic() + seconds
        told: set[int] = set()
        while left := _left(child):
            for pid in left - told:
                _send(pid, number)
            # One SIGTERM each: a second one ends the clean-up of some programs. What appears meanwhile gets its own.
            told |= left
            if time.monotonic() > until:
                break
            time.sleep(0.05)


def _left(child: int | None) -> set[int]:
    """What is still alive, as numbers for ``_send``; the dead are buried."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        # No children: nothing below either, since orphans become children.
        if _IS_LINUX:
            return set()
    if _IS_LINUX:
        return set(descendants(os.getpid()))
    if child is None:
        return set()
    try:
        os.killpg(child, 0)
    except OSError:
        return set()
    return {-child}


def _send(pid: int, number: int) -> None:
    # It may have been quicker.
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def descendants(root: int) -> dict[int, tuple[str, list[str]]]:
    """Return the name of each process below one and the other fields of its ``/proc/PID/stat`` (proc(5)), state first."""
    told: dict[int, tuple[str, list[str]]] = {}
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in parentheses may hold anything, spaces and parentheses included.
            head, _, rest = (entry / "stat").read_text("utf-8", "replace").rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        told[int(entry.name)] = head.partition("(")[2], fields
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: dict[int, tuple[str, list[str]]] = {}
    waiting = [root]
    while waiting:
        new = children.get(waiting.pop(), [])
        found.update((pid, told[pid]) for pid in new)
        waiting += new
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
