"""The rules on inline suppressions: unused, unknown or malformed, without a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.core.finding import Edit, Finding, Fix, Severity, Span
from example_sanity.core.rule import Context, Example, Rule, Subject
from example_sanity.core.suppressions import Suppression

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPE = "sanity: ignore[CODE] reason"
_NAMED = "#!/usr/bin/env bash\n# sanity: ignore-file[{}]{}\npython3 train.py\n"


class _SuppressionRule(Rule):
    """A rule on one inline suppression."""

    subject = Subject.SUPPRESSION

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        item = cast("Suppression", subject)
        for message, fix in self._judge(item, context):
            yield self.finding(item.path, item.span, message, fix=fix)

    def _judge(self, item: Suppression, context: Context) -> Iterator[tuple[str, Fix | None]]:
        """Yield message and fix for what is wrong with the suppression."""
        raise NotImplementedError


class UnusedSuppression(_SuppressionRule):
    """An inline suppression that suppresses nothing.

    The finding that it was written for is gone, or it stands at a place that it does not cover: a comment on a line of
    its own covers the statement, entry or block below it, one behind code covers its line, and a finding on the file
    as a whole (its name, say) needs ``ignore-file``. Only codes whose rules ran are judged, only in files that could be
    inspected, and only without ``-e NAME=VALUE``.

    Delete the suppression, or the codes that are not needed.
    """

    code = "IGN005"
    name = "unused-suppression"
    summary = "an inline suppression suppresses nothing"
    severity = Severity.WARNING
    bad = (Example(_NAMED.format("NAM002", " our only backend"), "examples/ppo/run_qwen3_8b_fsdp.sh"),)
    good = (Example(_NAMED.format("NAM002", " our only backend"), "examples/ppo/run_qwen3_vllm_fsdp.sh"),)

    def _judge(self, item: Suppression, context: Context) -> Iterator[tuple[str, Fix | None]]:
        unused = item.unused
        if not unused:
            return
        shown = ", ".join(_called(word, context) for word in unused)
        rest = [word for word in item.words if word not in unused]
        where = _range(item)
        if rest:
            yield (
                f"nothing to suppress for {shown} {where}; drop it from the list",
                _shortened(item, rest, context),
            )
        else:
            yield f"nothing to suppress for {shown} {where}; delete the comment", _deletion(item, context)


def _called(word: str, context: Context) -> str:
    rule = context.registry.rules.get(word)
    return f"{word} {rule.name}" if rule else word


def _range(item: Suppression) -> str:
    if item.covers is None:
        return "in this file"
    first, last = item.covers
    if first > last:
        return "(nothing follows the comment)"
    return f"on line {first}" if first == last else f"on lines {first}-{last}"


def _shortened(item: Suppression, words: list[str], context: Context) -> Fix:
    start = _line(item, context).index("[", item.span.column - 1) + 1
    end = _line(item, context).index("]", start)
    span = Span(item.span.line, start + 1, item.span.line, end + 1)
    return Fix("drop the unused codes", (Edit(item.path, span, ", ".join(words)),))


def _deletion(item: Suppression, context: Context) -> Fix:
    line = item.span.line
    if item.own_line:
        return Fix("delete the comment", (Edit(item.path, Span(line, 1, line + 1, 1), ""),))
    before = _line(item, context)[: item.span.column - 1]
    span = Span(line, len(before.rstrip()) + 1, line, item.span.end_column)
    return Fix("delete the comment", (Edit(item.path, span, ""),))


def _line(item: Suppression, context: Context) -> str:
    return context.project.text(item.path).split("\n")[item.span.line - 1]


class InvalidSuppression(_SuppressionRule):
    """A comment that looks like a suppression but is none, or that names a rule that there is not.

    Either suppresses nothing, and whoever reads it believes otherwise. A suppression is written
    ``sanity: ignore[CODE, name] reason`` or ``sanity: ignore-file[CODE] reason``, with codes, names or families in the
    brackets, in a comment of the file's own kind.
    """

    code = "IGN006"
    name = "invalid-suppression"
    summary = "a suppression is malformed or names an unknown rule"
    bad = (
        Example(_NAMED.format("NAM02", " our only backend"), "examples/ppo/run_qwen3_vllm_fsdp.sh"),
        Example("# sanity: disable NAM002\npython3 train.py\n", "examples/ppo/run_qwen3_vllm_fsdp.sh"),
    )
    good = (
        Example(_NAMED.format("forbidden-token", " our only backend"), "examples/ppo/run_qwen3_vllm_fsdp.sh"),
        Example("# sanity check: ignore what is not ours\npython3 train.py\n"),
    )

    def _judge(self, item: Suppression, context: Context) -> Iterator[tuple[str, Fix | None]]:
        del context
        if item.malformed:
            yield f"{item.text!r} suppresses nothing; a suppression is written '{_SHAPE}'", None
        for problem in item.unknown.values():
            yield problem, None


class SuppressionWithoutReason(_SuppressionRule):
    """An inline suppression does not say why it is there. It suppresses all the same.

    Without a reason nobody dares to delete it. Say, behind the brackets, why the rule cannot hold here, and until when.
    """

    code = "IGN007"
    name = "suppression-without-reason"
    summary = "an inline suppression gives no reason"
    bad = (Example(_NAMED.format("NAM002", ""), "examples/ppo/run_qwen3_vllm_fsdp.sh"),)
    good = (Example(_NAMED.format("NAM002", " our only backend"), "examples/ppo/run_qwen3_vllm_fsdp.sh"),)

    def _judge(self, item: Suppression, context: Context) -> Iterator[tuple[str, Fix | None]]:
        if item.words and not item.reason and not item.unused:
            shown = ", ".join(_called(word, context) for word in item.words)
            yield f"the suppression of {shown} gives no reason; write one behind the bracket", None


RULES: tuple[type[Rule], ...] = (UnusedSuppression, InvalidSuppression, SuppressionWithoutReason)
