"""Running a launcher on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from example_sanity.smoke import supervisor
from example_sanity.smoke.job import CannotStart, environment

if TYPE_CHECKING:
    from example_sanity.smoke.plan import SmokePlan

# What the supervisor may take besides: it waits for SIGKILL to do its work.
_PATIENCE = 15.0


class LocalJob:
    """A launcher under real bash, in a session of its own, with its output in a file."""

    where = "local"
    number: str | None = None

    def __init__(self, plan: SmokePlan, root: Path, log: Path, grace: float) -> None:
        """Start it. Raises CannotStart."""
        bash = shutil.which("bash")
        if bash is None:
            raise CannotStart("missing-command", "there is no bash on PATH", "install bash")
        if not (root / plan.script).is_file():
            raise CannotStart(
                "missing-file", f"there is no file {plan.script} under {root}", "see that --root is right"
            )
        self._grace = grace
        command = [sys.executable, "-I", "-S", supervisor.__file__, str(grace), bash, plan.script]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*command, *plan.arguments],
                cwd=root,
                env={**os.environ, **environment(plan)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid: int | None = self._process.pid

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        return self._process.poll()

    def has_begun(self) -> bool:
        """Return True: nothing queues here."""
        return True

    def stop(self) -> None:
        """End the launcher and everything below it; returns when that is done."""
        self._process.terminate()
        try:
            self._process.wait(self._grace + _PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
