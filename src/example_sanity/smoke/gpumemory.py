"""How much memory the GPUs hold during a run, as nvidia-smi counts it."""

from __future__ import annotations

import os
import subprocess
import threading
from types import TracebackType

from example_sanity.smoke.result import GpuMemory

_EVERY_SECONDS = 0.5
_PATIENCE = 30.0


class MemoryWatch:
    """Watches the visible GPUs while it is open; without nvidia-smi it sees nothing."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._peak: dict[int, int] = {}
        self._first: dict[int, int] = {}

    def __enter__(self) -> MemoryWatch:
        """Look once, before anything runs, and go on looking."""
        if self._look():
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        # Asked anew each time: one nvidia-smi that repeats itself may hold back what it writes into a pipe.
        while not self._ended.wait(_EVERY_SECONDS) and self._look():
            pass

    def _look(self) -> bool:
        command = ["nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader,nounits"]
        command += _chosen(os.environ.get("CUDA_VISIBLE_DEVICES"))
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=True,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        for line in done.stdout.splitlines():
            self.take(line)
        return True

    def take(self, line: str) -> None:
        """Take in a line ``index, MiB``; any other ("[N/A]" where memory is shared with the host) says nothing."""
        index, _, used = line.partition(",")
        if index.strip().isdigit() and used.strip().isdigit():
            gpu, mebibytes = int(index), int(used)
            self._first.setdefault(gpu, mebibytes)
            self._peak[gpu] = max(self._peak.get(gpu, 0), mebibytes)

    @property
    def found(self) -> GpuMemory | None:
        """The fullest GPU; None where nothing could be seen."""
        if not self._peak:
            return None
        fullest = max(self._peak, key=lambda gpu: self._peak[gpu])
        return GpuMemory(self._first[fullest], self._peak[fullest])


def _chosen(visible: str | None) -> list[str]:
    """The option that limits nvidia-smi to what CUDA_VISIBLE_DEVICES names; it takes numbers and UUIDs, too."""
    return [f"--id={visible}"] if visible and not visible.startswith("-") else []
