"""Running a launcher under Slurm: an sbatch file, submitted, its log followed."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from example_sanity.smoke.job import CannotStart, environment

if TYPE_CHECKING:
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.running import Options

_SECONDS = 60.0
# Between the end of our limit and that of Slurm: ours says more.
_SPARE_MINUTES = 5


def batch_file(plan: SmokePlan, root: Path, options: Options) -> str:
    """Return the text of the sbatch file. ``#SBATCH`` lines are defaults: options of the command line win over them."""
    minutes = int(options.limit / 60) + _SPARE_MINUTES
    name = Path(plan.script).stem
    lines = [
        "#!/usr/bin/env bash",
        f"#SBATCH --job-name=smoke-{name}",
        f"#SBATCH --nodes={plan.nodes}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --gpus-per-node={plan.gpus // plan.nodes}",
        f"#SBATCH --time={minutes}",
        f"#SBATCH --output={options.log.resolve()}",
        "set -euo pipefail",
        f"cd {shlex.quote(str(root))}",
    ]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in sorted(environment(plan).items())]
    lines.append(f"exec bash {shlex.join([plan.script, *plan.arguments])}")
    return "\n".join(lines) + "\n"


class SlurmJob:
    """A submitted job. ``sbatch --wait`` ends with it and passes on its exit status."""

    where = "slurm"
    pid: int | None = None

    def __init__(self, plan: SmokePlan, root: Path, options: Options) -> None:
        """Write the sbatch file beside the log and submit it. Raises CannotStart."""
        self._log = options.log
        file = options.log.with_suffix(".sbatch")
        file.write_text(batch_file(plan, root, options), "utf-8")
        command = ["sbatch", "--parsable", *(["--wait"] if options.wait else []), *options.sbatch, str(file)]
        with tempfile.TemporaryFile("w+") as said:
            self._process = _start(command, said)
            assert self._process.stdout is not None
            with self._process.stdout as answer:
                # "123", or "123;cluster"; it comes when the job is accepted, long before --wait returns.
                self.number: str | None = answer.readline().strip().partition(";")[0]
            if not self.number:
                status = self._process.wait()
                said.seek(0)
                raise _refused(" ".join(said.read().split()) or f"exit status {status}")
        if not options.wait:
            self._process.wait()

    def poll(self) -> int | None:
        """Return the exit status that ``sbatch --wait`` passes on, None while the job is not at its end."""
        return self._process.poll()

    def has_begun(self) -> bool:
        """Return whether the job writes its log."""
        return self._log.exists() or self._process.poll() is not None

    def stop(self) -> None:
        """Cancel the job, and wait a while for Slurm to end it."""
        subprocess.run(["scancel", str(self.number)], check=False, capture_output=True, timeout=_SECONDS)
        try:
            self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start(command: list[str], errors: IO[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    except OSError as error:
        message = f"cannot start sbatch: {error.strerror}"
        raise CannotStart("missing-command", message, "run it where Slurm is installed") from error


def _refused(said: str) -> CannotStart:
    advice = "pass what the cluster wants (account, partition) with --sbatch-arg"
    return CannotStart("not-accepted", f"sbatch did not accept the job: {said}", advice)
