"""The rule on the baseline: it shrinks, and does not rot."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.core.baseline import DEFAULT, StaleEntry
from example_sanity.core.finding import Finding, Span
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

_GONE, _THERE = "0123456789abcdef", "d264ec498bf005c9"
_BASELINE = f"""\
{{
 "version": 1,
 "findings": {{
  "examples/ppo/run_qwen3_vllm_fsdp.sh": {{
   "NAM002": [
    "{_GONE}"
   ]
  }}
 }}
}}
"""


class StaleBaselineEntry(Rule):
    """The baseline holds a finding that is not there any more.

    A finding that was fixed must leave the baseline, or it may come back unseen. Only entries of rules and files that
    were part of the run are judged, and none of a file that could not be inspected.

    Run ``example-sanity baseline``: without ``--add`` it only ever removes entries.
    """

    code = "IGN008"
    name = "stale-baseline-entry"
    summary = "the baseline holds a finding that is gone"
    subject = Subject.STALE_BASELINE
    bad = (
        Example(_BASELINE, DEFAULT, {"examples/ppo/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}),
        Example(_BASELINE, DEFAULT, {"examples/ppo/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"}),
    )
    good = (
        Example(
            _BASELINE.replace(_GONE, _THERE),
            DEFAULT,
            {"examples/ppo/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"},
        ),
    )

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Ask to shrink the baseline."""
        entry = cast("StaleEntry", subject)
        rule = context.registry.rules.get(entry.code)
        called = f"{entry.code} {rule.name}" if rule else f"{entry.code}, which is no rule any more,"
        many = f"{entry.count} baselined findings of" if entry.count > 1 else "the baselined finding of"
        verb = "are" if entry.count > 1 else "is"
        message = f"{many} {called} in {entry.path} {verb} gone; drop what is fixed: example-sanity baseline"
        place = Span(entry.line, 1, entry.line, 1)
        yield self.finding(entry.baseline, place, message)


RULES: tuple[type[Rule], ...] = (StaleBaselineEntry,)
