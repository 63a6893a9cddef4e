"""Words and rows that several formats share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from example_sanity.report.model import counted, one_line
from example_sanity.smoke.result import SmokeResult
from example_sanity.smoke.steps import Step

# Longest excerpt of a line of a log in a report; the whole line is in the log.
WIDEST = 300


class Row(NamedTuple):
    """A name and a value of a summary."""

    name: str
    value: str


def verdict(result: SmokeResult) -> str:
    """Return "passed", "could not start"."""
    return result.verdict.replace("-", " ")


def headline(result: SmokeResult) -> str:
    """Return one sentence: the verdict, and what it rests on."""
    if result.verdict == "submitted":
        return f"submitted as job {result.job} of {result.where}"
    if result.cause is not None:
        return f"{verdict(result)}: {one_line(result.cause.message)} [{result.cause.kind}]"
    made = counted(len(result.steps), "optimizer step")
    time = f" in {result.seconds:.0f} s" if result.seconds else ""
    return f"{verdict(result)}: {made}{time}"


def rows(result: SmokeResult) -> Iterator[Row]:
    """Yield what is known of a run besides its verdict, its cause and its steps."""
    plan = result.plan
    where = f"{result.where}, job {result.job}" if result.job else result.where
    yield Row("where", where)
    yield Row("model", f"{plan.model_family}, {plan.backend}, {plan.kind}")
    yield Row("GPUs", f"{plan.gpus} on {counted(plan.nodes, 'node')}")
    yield Row("steps", f"{len(result.steps)} of {plan.steps}")
    if result.exit_status is not None:
        yield Row("exit status", str(result.exit_status))
    if result.seconds_to_first_step is not None:
        yield Row("first step after", f"{result.seconds_to_first_step:.1f} s")
    if result.seconds:
        yield Row("time", f"{result.seconds:.1f} s")
    if result.gpu_memory is not None:
        peak, before = result.gpu_memory.peak, result.gpu_memory.before
        yield Row("GPU memory peak", f"{peak} MiB (before the run {before} MiB)")
    if result.busy is not None:
        yield Row("busy at the limit", result.busy.words)
    if result.trainer_memory_gb is not None:
        yield Row("allocated by the trainer", f"{result.trainer_memory_gb:.2f} GB")
    if result.attempts > 1:
        yield Row("attempts", str(result.attempts))
    if result.versions:
        yield Row("versions", ", ".join(f"{name} {version}" for name, version in result.versions.items()))
    yield Row("command", result.command)
    if result.log is not None:
        yield Row("log", str(result.log))


def evidence_lines(result: SmokeResult) -> list[str]:
    """Return "line 12: text" for the line of the log that shows the cause, and those before it that tell something.

    Each is cut to WIDEST; there are none where no line shows it.
    """
    cause = result.cause
    if cause is None or not cause.line:
        return []
    before = [_line(item.text, item.number) for item in cause.context]
    return [*before, _line(cause.line, cause.line_number)]


def _line(line: str, number: int | None) -> str:
    text = one_line(line)
    cut = text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
    return f"line {number}: {cut}" if number else cut


def cells(step: Step) -> tuple[str, str, str, str, str]:
    """Return number, loss, gradient norm, reward and seconds of a step as text; "" for what is not known."""
    values = (step.loss, step.grad_norm, step.reward)
    loss, norm, reward = ("" if value is None else f"{value:.4g}" for value in values)
    if step.non_finite and not loss:
        loss = "not finite"
    seconds = "" if step.seconds is None else f"{step.seconds:.1f}"
    return str(step.number), loss, norm, reward, seconds


HEADS = ("step", "loss", "grad norm", "reward", "seconds")
