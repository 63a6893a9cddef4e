"""Formulas: what they compute, what they need, and what is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.parallel.backends import BACKENDS
from example_sanity.parallel.formula import Formula, fill, formula

VALUES = {"a": 7, "b": 3, "c": 0, "tp": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", 7),
        ("12", 12),
        ("a·b + 1", 22),
        ("a - b·2", 1),
        ("-a", -7),
        ("a // b", 2),
        ("a % b", 1),
        ("ceil(a, b)", 3),
        ("ceil(6, b)", 2),
        ("lcm(a, b)", 21),
        ("gcd(6, b)", 3),
        ("min(a, b)", 3),
        ("max(a, b)", 7),
        ("a = 7", 1),
        ("a == 7", 1),
        ("a != 7", 0),
        ("a >= 8", 0),
        ("a <= 7", 1),
        ("a < b", 0),
        ("a > b", 1),
        ("not a > b", 0),
        ("a > b and b > a", 0),
        ("a > b or b > a", 1),
        ("a if c > 0 else b", 3),
        ("a if c = 0 else b", 7),
        ("a - (b > 0)", 6),
        ("c > 0 => a % c = 0", 1),
        ("b > 0 => a % b = 0", 0),
        ("tp > 1 => a·tp = 14", 1),
    ],
)
def test_the_value(text: str, value: int) -> None:
    assert Formula(text).value(VALUES) == value


@given(a=st.integers(1, 99), b=st.integers(1, 99), c=st.integers(1, 99))
def test_it_computes_what_python_does(a: int, b: int, c: int) -> None:
    values = {"a": a, "b": b, "c": c}
    assert formula("(a + b·c) % (a·b) = 0").value(values) == int((a + b * c) % (a * b) == 0)
    assert formula("a // b - c if a > b else lcm(a, c)").value(values) == (
        a // b - c if a > b else math.lcm(a, c)
    )
    assert formula("a > 1 => b % a = 0 or a % b = 0").value(values) == int(a <= 1 or b % a == 0 or a % b == 0)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("a % (b·c) = 0", ("a", "b", "c")),
        ("cp > 1 => seq % (2·cp) = 0", ("seq", "cp")),
        ("lcm(a, b) if not c else max(a, dsv4)", ("a", "b", "c", "dsv4")),
        ("1", ()),
    ],
)
def test_the_symbols(text: str, symbols: tuple[str, ...]) -> None:
    assert Formula(text).symbols == symbols


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "a = = b",
        "a / b",
        "a ** b",
        "open(a)",
        "a.b",
        "a[0]",
        "1.5",
        "'a'",
        "a < b < c",
        "~a",
        "min(*a)",
        "min(a)(b)",
    ],
)
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        Formula(text).value(VALUES)


def test_a_symbol_that_is_missing_and_a_division_by_zero_are_said() -> None:
    with pytest.raises(KeyError):
        Formula("a % x").value(VALUES)
    with pytest.raises(ZeroDivisionError):
        Formula("a % c").value(VALUES)


def test_and_and_or_are_true_or_false_whatever_their_parts_come_to() -> None:
    assert [Formula(text).value(VALUES) for text in ("a and b", "c or a", "a and c", "(a and b) + 1")] == [
        1,
        1,
        0,
        2,
    ]


def test_a_condition_is_evaluated_first() -> None:
    assert Formula("c > 0 => a % c = 0").value(VALUES) == 1


def test_numbers_are_filled_in() -> None:
    assert fill("{a} and {a·b} of {tp}", VALUES) == "7 and 21 of 2"
    assert fill("nothing", VALUES) == "nothing"
    assert [Formula(text).shown(VALUES) for text in ("a", "2·a", "12")] == ["a = 7", "2·a7 = 14", "12"]


def test_every_formula_of_the_backends_is_one() -> None:
    for backend in BACKENDS:
        for _, text in backend.lets:
            values = dict.fromkeys(formula(text).symbols, 1)
            assert formula(text).value(values) >= 0
        for rule in backend.constraints:
            values = dict.fromkeys(rule.symbols, 4)
            assert rule.problem(values)
            rule.holds(values)
