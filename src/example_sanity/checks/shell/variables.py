"""SHL012-014: variables of the environment that nobody reads, or that the backend refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.shell.base import TextRule
from example_sanity.checks.shell.launched import LaunchRule
from example_sanity.checks.shell.options import ShellOptions
from example_sanity.checks.shell.retired import KNOWN, RETIRED
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Finding, Related, Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.launch.settings import Settings, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.shell.base import Text
    from example_sanity.launch.command import Entry, Launch
    from example_sanity.launch.syntax import Script

_CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"
_PROGRAMS = ("pretrain_gpt.py", "pretrain_mamba.py", "pretrain_t5.py", "pretrain_bert.py", "train_rl.py")
_MEGATRON = regex("|".join(_PROGRAMS).replace(".", r"\.").encode())
_TORCH_FSDP = frozenset({"fsdp", "fsdp2"})


def exported(script: Script) -> Iterator[tuple[str, Span]]:
    """Yield the variables that a script hands to its programs, where it sets them."""
    seen = set()
    for item in script.assignments:
        if item.exported and item.name not in seen:
            seen.add(item.name)
            yield item.name, item.span


class RetiredVariable(TextRule):
    """A launcher sets a variable that its program stopped reading. It has no effect, and nothing says so.

    The message names the release. With an older one the variable still works: pin that, or suppress the finding.
    """

    code = "SHL012"
    name = "retired-variable"
    summary = "an environment variable that is no longer read"
    severity = Severity.WARNING
    source = "vllm/envs.py 0.6.6 to 0.20.2, transformers 5.17, huggingface_hub 1.33; vLLM issue 50292"
    bad = (Example("export VLLM_ATTENTION_BACKEND=FLASH_ATTN\npython3 train.py\n"),)
    good = (Example("export VLLM_USE_FLASHINFER_SAMPLER=0\npython3 train.py\n"),)

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        for name, span in exported(text.script):
            retired = RETIRED.get(name)
            if retired:
                instead = f"use {retired.instead}" if retired.instead else "delete it"
                if retired.instead.startswith("nothing"):
                    instead = f"delete it ({retired.instead.partition(': ')[2]})"
                yield self.finding(
                    text.script.path, span, f"{name} has no effect since {retired.since}; {instead}"
                )


class MisspeltVariable(TextRule):
    """A launcher exports a variable whose name is nearly that of one that programs read.

    Only exports count that the script does not read itself. ``environment`` takes names that are meant as they stand.
    """

    code = "SHL013"
    name = "misspelt-variable"
    summary = "an environment variable is one letter off"
    severity = Severity.WARNING
    bad = (Example("export CUDA_VISBLE_DEVICES=0,1\npython3 train.py\n"),)
    good = (
        Example("export CUDA_VISIBLE_DEVICES=0,1\npython3 train.py\n"),
        Example("export MASTER_PORTS=1\npython3 train.py --port $MASTER_PORTS\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        known = {*KNOWN, *RETIRED, *context.options("shell", ShellOptions).environment}
        read = {read.name for read in text.script.reads}
        for name, span in exported(text.script):
            if name in known or name in read or len(name) < 8:
                continue
            best = nearest(name, known, 90) if any(_shares_letters(name, other) for other in known) else None
            if best and _is_slip(name, best):
                yield self.finding(text.script.path, span, f"nothing reads {name}; did you mean {best}?")


def _shares_letters(name: str, known: str) -> bool:
    """Whether one could be a slip of the other; a fast answer for most that are not."""
    # A letter put in the place of another leaves two letters that only one of the names has.
    return abs(len(name) - len(known)) <= 2 and len({*name} ^ {*known}) <= 4


def _is_slip(name: str, known: str) -> bool:
    """Whether a name is another with one or two letters left out, doubled, added or swapped; digits are meant."""
    from rapidfuzz.distance import DamerauLevenshtein

    letters = "".join(c for c in name if not c.isdigit()), "".join(c for c in known if not c.isdigit())
    limit = 1 if len(name) < 12 else 2
    return letters[0] != letters[1] and DamerauLevenshtein.distance(name, known) <= limit


class ConnectionsForBackend(LaunchRule):
    """``CUDA_DEVICE_MAX_CONNECTIONS`` does not fit the training backend of the launch.

    Megatron-LM asserts that it is 1 with tensor or context parallelism (on GPUs before Blackwell), and that it is not 1
    with Torch FSDP2 or Megatron FSDP. With FSDP elsewhere, 1 queues communication behind computation: it runs, slower.
    """

    code = "SHL014"
    name = "connections-for-backend"
    summary = "CUDA_DEVICE_MAX_CONNECTIONS does not fit the backend"
    source = "Megatron-LM: megatron/training/arguments.py, validate_args; verl: trainer/constants_ppo.py, pull request 7040"
    bad = (
        Example("CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun pretrain_gpt.py --use-torch-fsdp2\n"),
        Example("torchrun pretrain_gpt.py --tensor-model-parallel-size 2\n"),
    )
    good = (
        Example(
            "export CUDA_DEVICE_MAX_CONNECTIONS=1\ntorchrun pretrain_gpt.py --tensor-model-parallel-size 2\n"
        ),
        Example("torchrun pretrain_gpt.py --use-megatron-fsdp --tensor-model-parallel-size 2\n"),
        Example("CUDA_DEVICE_MAX_CONNECTIONS=1 python3 -m verl.trainer.main_ppo model_engine=megatron\n"),
    )

    @classmethod
    def could_find(cls, text: bytes) -> bool:
        """Whether one of Megatron-LM's own programs is named, or the variable and FSDP."""
        return _MEGATRON.search(text) is not None or (_CONNECTIONS.encode() in text and b"fsdp" in text)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Compare the variable with the settings of each entry."""
        launch = cast("Launch", subject)
        for entry in launch.entries:
            found = settings(entry)
            value = entry.command.environment.get(_CONNECTIONS)
            problem = _megatron(entry, found, value) or _fsdp(found, value)
            if problem:
                yield self._finding(entry, launch, *problem)

    def _finding(self, entry: Entry, launch: Launch, message: str, severity: Severity) -> Finding:
        places = [span for name, span in exported(launch.script) if name == _CONNECTIONS]
        site = entry.command.site
        path, span = (launch.script.path, places[0]) if places else (site.path, site.span)
        related = (Related(site.path, site.span, "the launch"),) if places else ()
        return self.finding(
            path, span, message, severity=severity, scenarios=(launch.scenario.name,), related=related
        )


def _megatron(entry: Entry, found: Settings, value: str | None) -> tuple[str, Severity] | None:
    """What Megatron-LM's own parser asserts, for scripts that use it."""
    if not (entry.file or "").endswith(_PROGRAMS):
        return None
    given = {item.key for item in found}
    fsdp = given & {"use-torch-fsdp2", "use-megatron-fsdp"}
    if fsdp:
        if value != "1":
            return None
        return (
            f"{_CONNECTIONS}=1 with --{min(fsdp)} stops Megatron-LM with an assertion; unset it",
            Severity.ERROR,
        )
    sizes = {key: _size(found, key) for key in ("tensor-model-parallel-size", "context-parallel-size")}
    wide = [f"--{key} {size}" for key, size in sizes.items() if size > 1]
    if not wide or value == "1" or "overlap-moe-expert-parallel-comm" in given:
        return None
    message = (
        f"{' and '.join(wide)} needs {_CONNECTIONS}=1 on GPUs before Blackwell, where Megatron-LM stops with an assertion; "
        f"export {_CONNECTIONS}=1 (it is {value or 'not set'})"
    )
    return message, Severity.WARNING


def _size(found: Settings, key: str) -> int:
    item = found.get(key)
    return item.value if item and item.stable and isinstance(item.value, int) else 1


def _fsdp(found: Settings, value: str | None) -> tuple[str, Severity] | None:
    """verl's engines: FSDP hides communication behind computation only with several connections."""
    if value != "1":
        return None
    keys = ("model_engine", "engine", "actor_rollout_ref.actor.strategy")
    chosen = [item for key in keys if (item := found.get(key)) and item.stable and item.raw in _TORCH_FSDP]
    if not chosen:
        return None
    message = (
        f"{_CONNECTIONS}=1 with {chosen[0].key}={chosen[0].raw} queues FSDP's communication behind computation; "
        "set it for Megatron alone"
    )
    return message, Severity.WARNING
