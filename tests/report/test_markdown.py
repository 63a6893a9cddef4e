"""The job summary: its limit, and text that Markdown must not read."""

from __future__ import annotations

import msgspec

from example_sanity.core.finding import Finding, Span
from example_sanity.report import render
from example_sanity.report.markdown import _plain
from example_sanity.report.model import View


def test_markdown_in_a_message_is_shown_as_it_is() -> None:
    assert _plain("a|b *c* `d` <e> [f](g) $h") == "a\\|b \\*c\\* \\`d\\` &lt;e&gt; \\[f\\](g) \\$h"


def test_a_summary_stays_below_a_mebibyte_and_counts_what_is_left_out(clean: View) -> None:
    findings = tuple(
        Finding("ENV001", "knob", "模" * 300, f"{number // 4:05}.sh", Span(number + 1, 1, number + 1, 2))
        for number in range(2000)
    )
    report = msgspec.structs.replace(clean.report, findings=findings)

    text = render(msgspec.structs.replace(clean, report=report), "markdown")

    assert 900_000 < len(text.encode()) <= 1_000_000
    shown = text.count("| error | ENV001 knob |")
    assert f"{2000 - shown} findings left out here: a summary ends at 1 MiB." in text
    assert "| ENV001 knob | error | 2000 |" in text


def test_files_are_left_out_whole_from_the_end(clean: View) -> None:
    findings = (
        Finding("ENV001", "knob", "x", "a.sh"),
        Finding("ENV001", "knob", "y" * 1_000_000, "b.sh"),
        Finding("ENV001", "knob", "z", "c.sh"),
    )
    report = msgspec.structs.replace(clean.report, findings=findings)

    text = render(msgspec.structs.replace(clean, report=report), "markdown")

    assert "a.sh" in text
    assert "b.sh" not in text
    assert "2 findings left out here" in text
