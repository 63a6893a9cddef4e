"""From what a log says and how a run ended to a verdict with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from example_sanity.report.model import counted
from example_sanity.smoke.cause_table import CRASHED, KILLED, STOPPED
from example_sanity.smoke.causes import Cause, Evidence
from example_sanity.smoke.tail import LogLine

if TYPE_CHECKING:
    from example_sanity.smoke.busy import Busy
    from example_sanity.smoke.causes import Sighting
    from example_sanity.smoke.plan import SmokePlan
    from example_sanity.smoke.record import Record
    from example_sanity.smoke.result import Verdict

# A run that was silent for so many seconds, or for half of its time, hangs; one that still talks only needs longer.
_SILENCE = 120.0
_SIGNALS = {
    2: STOPPED,
    4: CRASHED,
    6: CRASHED,
    7: CRASHED,
    8: CRASHED,
    9: KILLED,
    11: CRASHED,
    15: STOPPED,
}


class Ending(NamedTuple):
    """How a run ended: its exit status (128 + signal, as a shell counts), its time in seconds, and whether the limit ended it.

    The exit status is None where only the log is known. ``busy`` is what the processes did shortly before the limit, None where that is
    not known.
    """

    exit_status: int | None
    seconds: float
    is_timed_out: bool = False
    busy: Busy | None = None


class Judgement(NamedTuple):
    """A verdict, its cause, and the row of the table that the cause is from, where it is from there."""

    verdict: Verdict
    evidence: Evidence | None = None
    cause: Cause | None = None


def judge(plan: SmokePlan, record: Record, ending: Ending) -> Judgement:
    """Return the verdict. Passed is only what ended with status 0 after all its steps, each with a finite loss.

    Of a log alone: what has all its steps, and no failure after the last one.
    """
    if (bad := _non_finite(record)) is not None:
        return Judgement("failed", bad)
    if ending.is_timed_out:
        return Judgement("failed", _timed_out(plan, record, ending))
    if ending.exit_status is None and (shown := _shown_failure(plan, record)) is not None:
        return shown
    if ending.exit_status:
        return _failed(record, ending.exit_status)
    missing = _no_step(record, ending) or _too_few(plan, record, ending) or _not_learning(plan, record)
    return Judgement("passed") if missing is None else Judgement("failed", missing)


def _non_finite(record: Record) -> Evidence | None:
    for step in record.steps:
        if step.non_finite:
            message = f"{' and '.join(step.non_finite)} of step {step.number} is not a finite number"
            advice = (
                "if it is so from the first step, look at the weights and the kernels (another attention backend, bf16 "
                "against fp32); if later, at the learning rate"
            )
            return Evidence("non-finite-loss", message, advice, *record.place(step))
    return None


def _timed_out(plan: SmokePlan, record: Record, ending: Ending) -> Evidence:
    silent = ending.seconds - record.last_seconds
    made = f"after {counted(len(record.steps), 'step')} of {plan.steps}"
    limit = f"the time limit of {ending.seconds:.0f} s ended the run {made}, while"
    if ending.busy is not None and ending.busy.compilers:
        message = f"{limit} compilers were at work: {ending.busy.at_work}"
        return Evidence("compiling", message, _compiling(ending.busy), *_last(record))
    busy = f"; busiest: {ending.busy.words}" if ending.busy else ""
    if silent < min(_SILENCE, ending.seconds / 2):
        message = f"{limit} it was still at work{busy}"
        return Evidence("time-limit", message, _more_time(plan, record), *_last(record))
    message = f"the run was silent for its last {silent:.0f} s of {ending.seconds:.0f} s, {made}{busy}"
    advice = (
        "look at the last lines: what it was about to do is what it waits for. "
        "Give a larger --time-limit only where that is known to take long"
    )
    if (seen := record.failure) is not None:
        shown = seen.evidence
        return Evidence(
            "hang", f"{message}; before that: {shown.message}", shown.advice, shown.line, shown.line_number
        )
    return Evidence("hang", message, advice, *_last(record))


def _more_time(plan: SmokePlan, record: Record) -> str:
    if len(record.steps) >= plan.steps:
        return (
            "give a larger --time-limit: all steps are made, and what comes after them takes long (verl's SFT trainer saves a "
            "checkpoint after its last step, whatever save_freq says)"
        )
    if not record.steps:
        return "give a larger --time-limit: the start alone took all of it (imports, compilation, the rollout engine)"
    return "give a larger --time-limit, or fewer --steps"


def _compiling(busy: Busy) -> str:
    """What to do where the limit came while kernels were built."""
    more = "give a larger --time-limit: what is built is mostly kept for the next run"
    if busy.builds != "flashinfer":
        return more
    return (
        f"{more}. These are kernels of FlashInfer, which vLLM does without with --set VLLM_USE_FLASHINFER_MOE_FP16=0 and "
        "--set VLLM_USE_FLASHINFER_SAMPLER=0"
    )


def _last(record: Record) -> tuple[str, int | None, tuple[LogLine, ...]]:
    """The last line that tells something, its number, and the telling ones before it."""
    if not record.last_lines:
        return "", None, ()
    *before, last = record.last_lines
    return last.text, last.number, tuple(before)


def _shown_failure(plan: SmokePlan, record: Record) -> Judgement | None:
    """The failure that a log shows after its last step; what mostly follows from another also ends runs that are done."""
    seen = record.failure
    if seen is None or (seen.cause.follows and len(record.steps) >= plan.steps):
        return None
    return Judgement(_verdict(seen, record), _after_steps(seen, record), seen.cause)


def _failed(record: Record, status: int) -> Judgement:
    seen = record.failure
    signal = _SIGNALS.get(status - 128)
    if signal is not None and (seen is None or seen.cause.follows or seen.cause.kind == "exception"):
        line = seen.evidence if seen is not None and seen.cause is signal else None
        shown = (line.line, line.line_number, _context(seen, record)) if seen and line else _last(record)
        return Judgement("failed", Evidence(signal.kind, signal.says, signal.advice, *shown), signal)
    if seen is None:
        message = f"the launcher ended with exit status {status}"
        advice = "the last lines of the log say what it did; a guard of the launcher itself ends it like this"
        return Judgement("failed", Evidence("exit-status", message, advice, *_last(record)))
    return Judgement(_verdict(seen, record), _after_steps(seen, record), seen.cause)


def _verdict(seen: Sighting, record: Record) -> Verdict:
    return "could-not-start" if seen.cause.blame == "surroundings" and not record.steps else "failed"


def _after_steps(seen: Sighting, record: Record) -> Evidence:
    shown = msgspec.structs.replace(seen.evidence, context=_context(seen, record))
    if not record.steps:
        return shown
    message = f"{shown.message} (after {counted(len(record.steps), 'step')})"
    return msgspec.structs.replace(shown, message=message)


def _context(seen: Sighting, record: Record) -> tuple[LogLine, ...]:
    """What a run was doing that something outside ended; other failures say it themselves."""
    return record.last_lines if seen.cause is STOPPED else ()


def _no_step(record: Record, ending: Ending) -> Evidence | None:
    if record.steps:
        return None
    message = "the log has no optimizer step"
    if ending.exit_status == 0:
        message = f"exit status 0, but {message}"
    advice = (
        "see that the launcher really starts the trainer, that the trainer logs to the console, and that no failure is "
        "swallowed (`|| true`, a pipe without pipefail)"
    )
    if ending.exit_status is None:
        advice = f"see whether the run had ended when the log was taken; if so, {advice}"
    if (seen := record.failure) is not None:
        shown = seen.evidence
        return Evidence(
            "no-step-line",
            f"{message}; it shows: {shown.message}",
            shown.advice,
            shown.line,
            shown.line_number,
        )
    return Evidence("no-step-line", message, advice, *_last(record))


def _too_few(plan: SmokePlan, record: Record, ending: Ending) -> Evidence | None:
    made = len(record.steps)
    if made >= plan.steps:
        return None
    ended = "exit status 0" if ending.exit_status == 0 else "the log ends"
    message = f"{ended} after {counted(made, 'optimizer step')}, {plan.steps} were asked for"
    advice = "more data or more epochs: the trainer stops where its data ends, whatever the number of steps"
    return Evidence("too-few-steps", message, advice, *record.place(record.steps[-1]))


def _not_learning(plan: SmokePlan, record: Record) -> Evidence | None:
    """Steps that show nothing: RL without a reward, SFT whose gradient is always 0 (with RL equal rewards do that)."""
    place = record.place(record.steps[-1])
    if plan.kind == "rl" and not record.has_reward:
        advice = "see that the data has the fields that the reward function reads, and that the trainer logs rewards"
        return Evidence("no-reward", "the steps have no reward", advice, *place)
    if plan.kind == "sft" and all(step.grad_norm == 0 for step in record.steps):
        advice = "see that the loss mask leaves tokens to learn from, and that the parameters are not frozen"
        return Evidence("no-gradient", "the gradient norm is 0 in every step", advice, *place)
    return None
