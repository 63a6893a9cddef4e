"""How much memory the GPUs hold during a run, as nvidia-smi counts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from types import TracebackType
from typing import IO

from example_sanity.smoke.result import GpuMemory

_EVERY_MS = 500


class MemoryWatch:
    """Watches the visible GPUs while it is open; without nvidia-smi it sees nothing."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._peak: dict[int, int] = {}
        self._first: dict[int, int] = {}

    def __enter__(self) -> MemoryWatch:
        """Begin."""
        if (program := shutil.which("nvidia-smi")) is not None:
            command = [program, "--query-gpu=index,memory.used", "--format=csv,noheader,nounits"]
            command += [f"--loop-ms={_EVERY_MS}", *_chosen(os.environ.get("CUDA_VISIBLE_DEVICES"))]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert self._process.stdout is not None
            self._thread = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        if self._process is not None and self._thread is not None:
            self._process.terminate()
            self._process.wait()
            self._thread.join()

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self.take(line)

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
