"""A stand-in for the client of Ray Jobs, which runs the entry point on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple


class Status(NamedTuple):
    value: str


class Info(NamedTuple):
    driver_exit_code: int | None


class Client:
    """Takes one job. ``pending`` is how many times it says so; the connection of the log may break."""

    def __init__(
        self, folder: Path, *, pending: int = 0, breaks: bool = False, refuses: bool = False
    ) -> None:
        self._folder, self._pending, self._breaks, self._refuses = folder, pending, breaks, refuses
        self._process: subprocess.Popen[bytes] | None = None
        self.submitted: dict[str, Any] = {}
        self.stopped = False

    def submit_job(self, **job: Any) -> str:
        if self._refuses:
            raise RuntimeError("no such route")
        self.submitted = job
        subprocess.run(["cp", "-r", f"{job['runtime_env']['working_dir']}/.", self._folder], check=True)
        with (self._folder / "job.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["bash", "-c", job["entrypoint"]],
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return "raysubmit_1"

    def get_job_status(self, number: str) -> Status:
        assert number == "raysubmit_1"
        if self._pending and not self.stopped:
            self._pending -= 1
            return Status("PENDING")
        assert self._process is not None
        status = self._process.poll()
        if status is None:
            return Status("RUNNING")
        return Status("STOPPED" if self.stopped else "FAILED" if status else "SUCCEEDED")

    def get_job_info(self, number: str) -> Info:
        assert number == "raysubmit_1"
        assert self._process is not None
        return Info(self._process.poll())

    def get_job_logs(self, number: str) -> str:
        assert number == "raysubmit_1"
        return (self._folder / "job.log").read_text()

    async def tail_job_logs(self, number: str) -> AsyncIterator[str]:
        assert self._process is not None
        if self._breaks:
            raise RuntimeError("WebSocket connection closed unexpectedly")
        self._process.wait()
        yield self.get_job_logs(number)

    def stop_job(self, number: str) -> None:
        assert number == "raysubmit_1"
        assert self._process is not None
        self.stopped = True
        # Not the command kill: that of procps 4.0.2 reads "-1234" as -1, which is everything.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def wait(self) -> None:
        """Wait for the job, which nobody else does where it is left to itself."""
        assert self._process is not None
        self._process.wait()
