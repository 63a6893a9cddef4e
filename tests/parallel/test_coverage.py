"""Every number of a rule that a backend has is a formula, or has a reason why there is none."""

from __future__ import annotations

import re

from example_sanity.parallel import unencoded
from example_sanity.parallel.backends import BACKENDS

# How far the numbers of each kind go, and those that were never given.
LAST = {
    "ML": 40, "VC": 21, "VR": 10, "VF": 10, "VM": 9, "VO": 3, "MC": 60, "SL": 15, "MI": 7, "SK": 15, "OR": 5, "NR": 4,
    "VE": 9, "AM": 7, "TT": 6, "DS": 9, "MS": 8, "TR": 5, "RA": 3, "VL": 9, "SG": 8, "RO": 2, "SF": 3, "XN": 1,
}  # fmt: skip
NEVER = {f"MC-{number:02}" for number in (*range(25, 31), *range(36, 40))}
KNOWN = {f"{kind}-{number:02}" for kind, last in LAST.items() for number in range(1, last + 1)} - NEVER
ENCODED = {re.sub(r"[a-z]$", "", rule.id) for backend in BACKENDS for rule in backend.constraints}


def test_every_rule_is_encoded_or_explained() -> None:
    assert sorted(KNOWN - ENCODED - unencoded.UNENCODED.keys()) == []


def test_nothing_is_both_encoded_and_explained() -> None:
    assert sorted(ENCODED & unencoded.UNENCODED.keys()) == []


def test_no_number_is_unknown() -> None:
    assert sorted((ENCODED | unencoded.UNENCODED.keys()) - KNOWN) == []


def test_what_a_reason_refers_to_is_encoded() -> None:
    named = set(re.findall(r"[A-Z]{2}-\d\d", " ".join(what for _, what in unencoded.UNENCODED.values())))

    assert sorted(named - ENCODED) == []
