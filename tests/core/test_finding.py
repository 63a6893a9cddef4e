"""Findings: scenarios that merge, fingerprints that survive moved lines, an order that does not depend on timing."""

from __future__ import annotations

import msgspec

from example_sanity.core.finding import Finding, Related, Severity, Span, merge_scenarios, with_fingerprints


def _finding(line: int = 1, message: str = "m", *scenarios: str) -> Finding:
    return Finding(
        "NAM001", "script-name-shape", message, "a.sh", Span(line, 1, line, 2), scenarios=scenarios
    )


def test_equal_findings_of_several_scenarios_are_one() -> None:
    merged = merge_scenarios([_finding(1, "m", "default"), _finding(2, "m", "b"), _finding(1, "m", "c")])

    assert [finding.scenarios for finding in merged] == [("default", "c"), ("b",)]


def test_findings_that_differ_in_a_related_place_are_one_with_the_first() -> None:
    near, far = (Related("a.sh", Span(line, 1, line, 2), f"name = {line}") for line in (3, 4))
    one, two = (
        msgspec.structs.replace(_finding(1, "m", item.label), related=(item,)) for item in (near, far)
    )

    (merged,) = merge_scenarios([one, two])

    assert (merged.related, merged.scenarios) == ((near,), ("name = 3", "name = 4"))


def test_a_fingerprint_survives_lines_that_move_and_spacing() -> None:
    before = with_fingerprints([_finding(1)], {"a.sh": ["TP=3"]})
    after = with_fingerprints([_finding(3)], {"a.sh": ["", "", "  TP=3 "]})

    assert before[0].fingerprint == after[0].fingerprint


def test_a_fingerprint_tells_equals_text_and_rules_apart() -> None:
    lines = {"a.sh": ["TP=3", "TP=3", "TP=4"]}
    other = msgspec.structs.replace(_finding(1), code="NAM002")
    found = with_fingerprints([_finding(1), _finding(2), _finding(3), other], lines)

    assert len({finding.fingerprint for finding in found}) == 4


def test_findings_sort_by_path_place_code() -> None:
    late, early = _finding(9), _finding(2)

    assert [early, late] == sorted([late, early], key=lambda finding: finding.sort_key)
    assert Severity.ERROR.rank > Severity.WARNING.rank > Severity.INFO.rank
