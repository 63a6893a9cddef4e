"""What the processes of a run on this machine are busy with, read from /proc (proc(5)): compilers, and who started them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from example_sanity.smoke import supervisor

_PROC = Path("/proc")
_WINDOW, _EVERY = 10.0, 1.0
_MOST = 3
_IDLE_CORES = 0.05
_COMPILERS = frozenset(
    [
        "nvcc",
        "cicc",
        "ptxas",
        "cudafe++",
        "fatbinary",
        "nvlink",
        "ninja",
        "make",
        "cmake",
        "tilelang",
        "gcc",
        "g++",
        "cc",
        "c++",
        "cc1",
        "cc1plus",
        "collect2",
        "ld",
        "as",
        "clang",
        "clang++",
        "rustc",
        "cargo",
    ]
)
# Between a compiler and the program that wanted it.
_BETWEEN = frozenset(("sh", "bash", "dash", "env", "nice", "timeout", "ccache", "sccache"))
# Processes of torch that compile kernels, and wait for some most of the time.
_COMPILE_WORKER = "torch/_inductor/compile_worker"
_WORKERS = "compile workers of torch"
_FLASHINFER = "flashinfer"


class Load(msgspec.Struct, frozen=True):
    """A program and the processors that it kept busy: 1.0 is one core."""

    name: str
    cores: float


class Busy(msgspec.Struct, frozen=True):
    """What a run was busy with shortly before it was ended.

    ``compilers`` are the compilers at work by name, with the most of each at a time; ``started_by`` is the program that started
    them, ``builds`` what they build ("flashinfer"), "" where that is not known. ``processes`` are the busiest programs,
    ``count`` is the number of all processes.
    """

    compilers: dict[str, int] = {}
    started_by: str = ""
    builds: str = ""
    processes: tuple[Load, ...] = ()
    count: int = 0

    @property
    def at_work(self) -> str:
        """The compilers in words: "16 cicc and 1 ninja, started by VLLM::EngineCore"."""
        named = [f"{count} {name}" for name, count in self.compilers.items()]
        text = " and ".join([*([", ".join(named[:-1])] if named[1:] else []), *named[-1:]])
        return f"{text}, started by {self.started_by}" if self.started_by else text

    @property
    def words(self) -> str:
        """All of it in words."""
        loads = ", ".join(f"{load.name} ({load.cores:.1f} cores)" for load in self.processes)
        idle = (
            f"none of its {self.count} processes used a processor" if self.count != 1 else "its process slept"
        )
        return "; ".join(part for part in (self.at_work, loads or idle) if part)


class _Process(NamedTuple):
    """One line of ``/proc/PID/stat``, as far as it matters; ``ticks`` of processor time since its start."""

    pid: int
    parent: int
    name: str
    ticks: int

    @property
    def known_by(self) -> tuple[int, str]:
        return self.pid, self.name


class _Sample(NamedTuple):
    time: float
    processes: Mapping[int, _Process]


class BusyWatch:
    """Looks at the processes below ``pid`` in the last seconds before a limit; at none where ``pid`` is None."""

    def __init__(self, pid: int | None, limit: float) -> None:
        """``limit`` is in seconds."""
        self._pid = pid if (_PROC / "self/stat").exists() else None
        self._from = limit - min(_WINDOW, limit / 4)
        self._samples: list[_Sample] = []
        # By number and name: a process that starts another program in its place keeps its number.
        self._told: dict[tuple[int, str], tuple[str, str]] = {}

    def look(self, seconds: float) -> None:
        """Take a sample where the limit is near and the last one is older than a second."""
        if self._pid is None or seconds < self._from:
            return
        now = time.monotonic()
        if not self._samples or now - self._samples[-1].time >= _EVERY:
            self._take(self._pid, now)

    @property
    def found(self) -> Busy | None:
        """Take a last sample and say what all show; None where nothing can be seen."""
        if self._pid is None:
            return None
        self._take(self._pid, time.monotonic())
        steady = self._steady()
        counts = [Counter(process.name for process in found) for _, found in steady]
        most = {name: max(count[name] for count in counts) for name in sorted(set().union(*counts))}
        starters = Counter(self._starter(process, sample) for sample, found in steady for process in found)
        if workers := self._working(_WORKERS):
            most[_WORKERS] = workers
        texts = [self._told[process.known_by][1] for _, found in steady for process in found]
        return Busy(
            compilers=dict(sorted(most.items(), key=lambda item: -item[1])),
            started_by=starters.most_common(1)[0][0] if starters else "",
            builds=_FLASHINFER if any(_FLASHINFER in text for text in texts) else "",
            processes=tuple(Load(name, round(cores, 2)) for name, cores in self._loads()),
            count=len(self._samples[-1].processes),
        )

    def _steady(self) -> list[tuple[_Sample, list[_Process]]]:
        """The samples with compilers; none where they are few, since one that is seen once builds some small kernel."""
        compiling = [(sample, found) for sample in self._samples if (found := self._compilers(sample))]
        return compiling if 2 * len(compiling) >= len(self._samples) else []

    def _take(self, pid: int, now: float) -> None:
        processes = _below(pid)
        self._samples.append(_Sample(now, processes))
        # Asked while they live.
        for process in processes.values():
            if process.known_by not in self._told:
                self._told[process.known_by] = _described(process.pid)

    def _compilers(self, sample: _Sample) -> list[_Process]:
        return [process for process in sample.processes.values() if process.name in _COMPILERS]

    def _working(self, name: str) -> int:
        """How many processes of a program have used a processor between the first and the last sample."""
        first, last = self._samples[0].processes, self._samples[-1].processes
        both = first.keys() & last.keys()
        return sum(
            self._told[last[pid].known_by][0] == name and last[pid].ticks > first[pid].ticks for pid in both
        )

    def _starter(self, process: _Process, sample: _Sample) -> str:
        """The nearest program above a compiler that is none, and no shell between."""
        above: _Process | None = process
        while above is not None and above.name in _COMPILERS | _BETWEEN:
            above = sample.processes.get(above.parent)
        return self._told[above.known_by][0] if above is not None else "the launcher"

    def _loads(self) -> Iterator[tuple[str, float]]:
        """The busiest programs and their cores; processes of one name count together."""
        first, last = self._samples[0], self._samples[-1]
        span = (last.time - first.time) * os.sysconf("SC_CLK_TCK")
        cores: Counter[str] = Counter()
        for pid, process in last.processes.items():
            before = first.processes.get(pid)
            if span and before is not None and before.name == process.name:
                cores[self._told[process.known_by][0]] += process.ticks - before.ticks
        for name, ticks in cores.most_common(_MOST):
            if ticks / span >= _IDLE_CORES:
                yield name, ticks / span


def _below(root: int) -> dict[int, _Process]:
    """The living processes below one."""
    return {
        pid: _Process(pid, int(fields[1]), name, int(fields[11]) + int(fields[12]))
        for pid, (name, fields) in sorted(supervisor.descendants(root).items())
        if fields[0] not in "ZX"
    }


def _described(pid: int) -> tuple[str, str]:
    """The name of the program of a process for people, without what may be secret, and its whole command line."""
    try:
        text = (_PROC / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        text = ""
    return program(text.rstrip("\0").split("\0")) or "a process that has ended", text


def program(argv: Iterable[str]) -> str:
    """Return the name of a program: "python3 -m verl.trainer.main_ppo", "VLLM::EngineCore", "cicc"; "" for no words."""
    words = list(argv)
    first = PurePosixPath(words[0].partition(" ")[0]).name
    if not first.startswith("python"):
        return first
    if any(_COMPILE_WORKER in word for word in words[1:]):
        return _WORKERS
    for place, word in enumerate(words[1:], 1):
        if word in ("-m", "-c"):
            name = words[place + 1] if word == "-m" and place + 1 < len(words) else ""
            return f"{first} {word} {name}".rstrip()
        if not word.startswith("-"):
            return f"{first} {PurePosixPath(word).name}"
    return first
