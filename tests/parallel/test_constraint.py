"""Tables of constraints, and what a constraint says of itself."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Severity
from example_sanity.parallel.constraint import claims

TABLE = """
    X-1 BAT003 A args | 12-14
    gbs % (mbs·dp) = 0
    global batch {gbs} on
      dp{dp}
    adjust: gbs mbs
    refines: X-2

    X-2 MSH008 ZeroDivisionError step1 | 20
    cp > 1 => heads % cp = 0
"""


def test_a_table_of_constraints() -> None:
    first, second = claims(TABLE, "arguments.py:")
    assert (first.id, first.code, first.formula) == ("X-1", "BAT003", "gbs % (mbs·dp) = 0")
    assert (first.effect, first.stage, first.raises) == ("assertion", "args", "AssertionError")
    assert (first.source, first.symbols) == ("arguments.py:12-14", ("gbs", "mbs", "dp"))
    assert (first.adjust, first.refines) == (("gbs", "mbs"), "X-2")
    assert first.problem({"gbs": 7, "mbs": 2, "dp": 2}) == "global batch 7 on dp2"
    assert (second.effect, second.raises, second.adjust) == ("error", "ZeroDivisionError", ())
    assert second.problem({"heads": 9, "cp": 2}) == "heads = 9 does not divide by cp = 2 (1 left over)"


def test_a_problem_without_words_is_told_from_the_numbers() -> None:
    (rule,) = claims("X BAT001 A cfg | f.py:1\nb >= m and b > 0")
    assert rule.problem({"b": 1, "m": 2}) == "b >= m and b > 0 does not hold with b = 1, m = 2"
    (rule,) = claims("X BAT001 A cfg | f.py:1\nb·n % (2·m) = 0")
    assert rule.problem({"b": 3, "n": 3, "m": 2}) == "b3·n3 = 9 does not divide by 2·m2 = 4 (1 left over)"


@pytest.mark.parametrize(
    "record", ["X BAT001 A cfg\na = 1", "X BAT001 A | f.py\na = 1", "X BAT001 A now | f\na = 1"]
)
def test_a_record_that_is_none(record: str) -> None:
    with pytest.raises(ValueError, match=r"has no|is no stage|unpack"):
        claims(record)


def test_a_constraint_with_an_unknown_symbol_is_silent() -> None:
    (rule,) = claims("X BAT001 A cfg | f.py:1\ngbs % dp = 0")
    assert rule.broken({"gbs": 3, "dp": 2})
    assert not rule.broken({"gbs": 4, "dp": 2})
    assert not rule.broken({"gbs": 3})
    assert not rule.broken({"gbs": 3, "dp": 0})


@pytest.mark.parametrize(
    ("how", "severity", "outcome"),
    [
        ("A cfg", Severity.ERROR, "AssertionError in the driver, before any worker starts"),
        ("V args", Severity.ERROR, "ValueError when the arguments are checked"),
        ("R init", Severity.ERROR, "RuntimeError when the ranks build the mesh"),
        ("N model", Severity.ERROR, "NotImplementedError when the model is built"),
        ("H init", Severity.ERROR, "a hang when the ranks build the mesh"),
        ("S step1", Severity.ERROR, "no message at the first update"),
        ("S cfg", Severity.WARNING, "no message in the driver, before any worker starts"),
        ("slow init", Severity.WARNING, "no message, but slow when the ranks build the mesh"),
        ("wasteful step1", Severity.WARNING, "no message, but samples or GPUs go unused at the first update"),
    ],
)
def test_severity_and_outcome(how: str, severity: Severity, outcome: str) -> None:
    (rule,) = claims(f"X BAT001 {how} | f.py:1\na = 1")
    assert (rule.severity, rule.outcome) == (severity, outcome)
