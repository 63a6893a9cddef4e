"""SHL011: variables that reach the driver and not Ray's workers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from example_sanity.checks.shell.launched import LaunchRule
from example_sanity.checks.shell.variables import exported
from example_sanity.core.finding import Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from example_sanity.core.finding import Finding
    from example_sanity.launch.command import Command, Entry, Launch

# What the processes on the GPUs read, and the driver does not.
_OF_WORKERS = regex(
    r"(?:NCCL|GLOO|UCX|NVTE|VLLM|SGLANG|SGL|TORCH|TORCHINDUCTOR|TRITON|HCCL|CUBLAS)_\w+"
    r"|CUDA_DEVICE_MAX_CONNECTIONS|CUDA_LAUNCH_BLOCKING|PYTORCH_(?:CUDA_|NPU_)?ALLOC_CONF|FLASHINFER_\w+|OMP_NUM_THREADS"
)
_RAY = regex(rb"\bray\b")
_NAME = regex(r"[A-Z][A-Z0-9_]{3,}")


class NotForwardedToRay(LaunchRule):
    """A script exports a variable that only workers read, but behind ``ray start`` or beside the job that it submits.

    Ray's workers get the environment of ``ray start`` and the ``env_vars`` of the job's runtime environment, not that of
    the shell that submits or starts the driver. What was exported before a ``ray start`` of the same script reaches that
    node and is not reported. Judged are jobs that have a runtime environment, as literal JSON, or none, and programs that
    use Ray by themselves, once the script has started it.
    """

    code = "SHL011"
    name = "not-forwarded-to-ray"
    summary = "an exported variable does not reach Ray's workers"
    severity = Severity.WARNING
    source = "Ray documentation, Environment Dependencies: env_vars; verl issue 184, xtuner pull request 1798"
    bad = (
        Example("ray start --head\nexport NCCL_DEBUG=INFO\npython3 -m verl.trainer.main_ppo\n"),
        Example(
            'export NCCL_DEBUG=INFO\nray job submit --runtime-env-json=\'{"env_vars": {"A": "1"}}\' -- python3 train.py\n'
        ),
    )
    good = (
        Example(
            "export NCCL_DEBUG=INFO\n"
            'ray job submit --runtime-env-json=\'{"env_vars": {"NCCL_DEBUG": "INFO"}}\' -- python3 train.py\n'
        ),
        Example("export NCCL_DEBUG=INFO\nray start --head\nray job submit -- python3 train.py\n"),
        Example(
            "ray start --head\nexport NCCL_DEBUG=INFO\n"
            "python3 -m verl.trainer.main_ppo +ray_kwargs.ray_init.runtime_env.env_vars.NCCL_DEBUG=INFO\n"
        ),
        Example("export NCCL_DEBUG=INFO\npython3 train.py\n"),
    )

    @classmethod
    def could_find(cls, text: bytes) -> bool:
        """Whether Ray's own command is among the words."""
        return _RAY.search(text) is not None

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Compare what is exported with what each submitted job forwards."""
        launch = cast("Launch", subject)
        started = [item.environment for item in launch.commands if _starts_ray(item)]
        for entry in launch.entries:
            job = next((item for item in entry.launchers if item.kind == "ray"), None)
            if job is not None:
                yield from self._job(entry, job.options, launch, started)
            elif started and entry is launch.entries[-1]:
                reason = "Ray was started before, and its workers keep the environment of that; export it above ray start"
                yield from self._judge(entry, launch, _mentioned(entry), started, reason)

    def _job(
        self, entry: Entry, options: Mapping[str, str], launch: Launch, started: Sequence[Mapping[str, str]]
    ) -> Iterator[Finding]:
        forwarded = _env_vars(options.get("runtime_env_json"))
        if "runtime_env" in options or forwarded is None:
            return
        what = f"lists {', '.join(sorted(forwarded))}" if forwarded else "lists no variables"
        reason = (
            f"the job's runtime environment {what}, and Ray's workers get nothing else; "
            "add it to env_vars in --runtime-env-json"
        )
        yield from self._judge(entry, launch, forwarded, started, reason)

    def _judge(
        self,
        entry: Entry,
        launch: Launch,
        forwarded: set[str],
        started: Sequence[Mapping[str, str]],
        reason: str,
    ) -> Iterator[Finding]:
        for name, span in exported(launch.script):
            if not _OF_WORKERS.fullmatch(name) or name in forwarded:
                continue
            if name not in entry.command.environment or any(name in environment for environment in started):
                continue
            yield self.finding(
                launch.script.path,
                span,
                f"{name} stays in this shell: {reason}",
                scenarios=(launch.scenario.name,),
            )


def _mentioned(entry: Entry) -> set[str]:
    """The variables that a program's arguments name, as it may hand them on itself."""
    return {name for word in entry.command.argv for name in _NAME.findall(word)}


def _starts_ray(command: Command) -> bool:
    return command.argv[:2] == ("ray", "start")


def _env_vars(text: str | None) -> set[str] | None:
    """The names that a runtime environment forwards; None where it cannot be read."""
    if text is None:
        return set()
    try:
        table = json.loads(text)
        return set(table.get("env_vars", {}))
    except (ValueError, AttributeError, TypeError):
        return None
