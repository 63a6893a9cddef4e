"""Running a launcher on a Ray cluster, through Ray Jobs (``ray.job_submission``, extra ``ray``)."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from example_sanity.core.errors import UsageError
from example_sanity.smoke import rollout
from example_sanity.smoke.job import CannotStart, environment

if TYPE_CHECKING:
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.running import Options

DASHBOARD_PORT = 8265
_CLIENT_PORT = 10001
# The folder of the working directory that holds checkpoint and data.
FOLDER = ".example-sanity-smoke"
# What Ray leaves out of a working directory anyway would only be copied for nothing.
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", ".*cache", "outputs", "checkpoints", "gpu-smoke", "*.log"
)
_ENDS = ("SUCCEEDED", "FAILED", "STOPPED")
_ASK_SECONDS = 1.0
_PATIENCE = 60.0


def dashboard(address: str) -> str:
    """Return the http address of the dashboard, where jobs are submitted.

    ``ray://HOST`` and ``ray://HOST:10001`` (Ray Client) stand for its usual port on that host, ``ray://HOST:PORT`` for another.
    Raises UsageError for an address without a host.
    """
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"--on {address}: {error}") from error
    if not host:
        raise UsageError(f"--on {address}: names no host; write ray://HOST[:PORT]")
    if parts.scheme != "ray":
        return address.rstrip("/")
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{DASHBOARD_PORT if port in (None, _CLIENT_PORT) else port}"


def entry_point(plan: SmokePlan, uploaded: dict[str, str]) -> str:
    """Return the command line of the job; paths that are uploaded are those below its working directory there."""
    variables = [f"{name}={_placed(value, uploaded)}" for name, value in sorted(environment(plan).items())]
    words = [_placed(word, uploaded) or "''" for word in plan.arguments]
    return " ".join(["env", *variables, "bash", shlex.quote(plan.script), *words])


def _placed(text: str, uploaded: dict[str, str]) -> str:
    """Quote a word for the shell of the job, which knows its working directory."""
    for local, there in uploaded.items():
        before, found, after = text.partition(local)
        if found:
            return f'{shlex.quote(before) if before else ""}"$PWD"/{shlex.quote(there)}{_placed(after, uploaded)}'
    return shlex.quote(text) if text else ""


def _for_workers(plan: SmokePlan) -> dict[str, Any]:
    """Return what a runtime_env adds: the processes of a cluster do not inherit the environment of the job."""
    variables = {name: plan.environment[name] for name in rollout.EVERYWHERE if name in plan.environment}
    return {"env_vars": variables} if variables else {}


def upload(plan: SmokePlan, root: Path, folder: Path) -> dict[str, str]:
    """Copy the project, checkpoint and data into ``folder``; return local path → path in it, longest first."""
    shutil.copytree(root, folder, ignore=_LEFT_OUT, symlinks=True, dirs_exist_ok=True)
    made = [*([plan.checkpoint] if plan.checkpoint else []), *plan.data]
    uploaded = {}
    for index, path in enumerate(made):
        there = f"{FOLDER}/{index}/{path.name}"
        (folder / there).parent.mkdir(parents=True, exist_ok=True)
        copy: Any = shutil.copytree if path.is_dir() else shutil.copy2
        copy(path, folder / there)
        uploaded[str(path)] = there
    return dict(sorted(uploaded.items(), key=lambda item: -len(item[0])))


class RayJob:
    """A submitted job of a Ray cluster; a thread writes its log to our file."""

    pid: int | None = None

    def __init__(self, plan: SmokePlan, root: Path, options: Options, client: Any = None) -> None:
        """Submit the launcher with the project as its working directory. Raises CannotStart and UsageError.

        ``client`` stands in for ray.job_submission.JobSubmissionClient.
        """
        self.where = dashboard(options.on)
        self._client = client or _client(self.where)
        self._log = options.log
        self.number: str | None = self._submit(plan, root)
        self._asked, self._seen, self._status = 0.0, time.monotonic(), "PENDING"
        self._thread = threading.Thread(target=self._copy_log, daemon=True)
        if options.wait:
            self._thread.start()

    def _submit(self, plan: SmokePlan, root: Path) -> str:
        with tempfile.TemporaryDirectory(prefix="example-sanity-smoke-") as folder:
            uploaded = upload(plan, root, Path(folder))
            try:
                number: str = self._client.submit_job(
                    entrypoint=entry_point(plan, uploaded),
                    # SFT launchers start torchrun in the job itself; with RL it is Ray's workers that hold the GPUs.
                    entrypoint_num_gpus=plan.gpus if plan.kind == "sft" else 0,
                    runtime_env={"working_dir": folder, **_for_workers(plan)},
                    metadata={"name": f"smoke {plan.script}"},
                )
            except Exception as error:
                raise _unreachable(self.where, error) from error
        return number

    def _copy_log(self) -> None:
        async def copy() -> None:
            with self._log.open("ab", buffering=0) as file:
                async for text in self._client.tail_job_logs(self.number):
                    file.write(text.encode("utf-8", "replace"))

        # A connection that breaks is no end of the job; what is missing then is fetched when it has ended.
        with contextlib.suppress(Exception):
            asyncio.run(copy())

    def _ask(self) -> str:
        """Return the status, asked for once a second. Raises CannotStart when there was no answer for a minute."""
        now = time.monotonic()
        if now - self._asked >= _ASK_SECONDS:
            self._asked = now
            try:
                self._status, self._seen = self._client.get_job_status(self.number).value, now
            except Exception as error:
                if now - self._seen > _PATIENCE:
                    raise _unreachable(self.where, error) from error
        return self._status

    def poll(self) -> int | None:
        """Return 0 for a job that succeeded, its exit status or 1 for any other end, None before that."""
        status = self._ask()
        if status not in _ENDS:
            return None
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        self._complete_log()
        if status == "SUCCEEDED":
            return 0
        return getattr(self._client.get_job_info(self.number), "driver_exit_code", None) or 1

    def _complete_log(self) -> None:
        with contextlib.suppress(Exception), self._log.open("ab") as file:
            file.write(self._client.get_job_logs(self.number).encode("utf-8", "replace")[file.tell() :])

    def has_begun(self) -> bool:
        """Return whether the job is past waiting for its turn."""
        return self._ask() != "PENDING"

    def stop(self) -> None:
        """Stop the job, and wait a while for Ray to end it."""
        with contextlib.suppress(Exception):
            self._client.stop_job(self.number)
        until = time.monotonic() + _PATIENCE
        while self._ask() not in _ENDS and time.monotonic() < until:
            time.sleep(_ASK_SECONDS / 2)


def _client(address: str) -> Any:
    try:
        from ray.job_submission import JobSubmissionClient
    except ImportError as error:
        raise UsageError(f"--on {address} needs Ray: pip install 'example-sanity[ray]' ({error})") from error
    try:
        return JobSubmissionClient(address)
    except Exception as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: Exception) -> CannotStart:
    advice = "see that the address is that of the dashboard (port 8265) and can be reached from here"
    said = " ".join(str(error).split())[:300]
    return CannotStart("no-cluster", f"the Ray cluster at {address} did not take the job: {said}", advice)
