"""``expr`` against the rules of arithmetic; tests/fidelity compares it with the real one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.launch.tools import ExpressionError, expr, is_null, shuf

numbers = st.integers(min_value=-999, max_value=999)


@given(numbers, numbers, numbers)
def test_left_associative_sums_and_products(a: int, b: int, c: int) -> None:
    assert expr([str(a), "-", str(b), "-", str(c)]) == str(a - b - c)
    assert expr([str(a), "+", str(b), "*", str(c)]) == str(a + b * c)
    assert expr(["(", str(a), "+", str(b), ")", "*", str(c)]) == str((a + b) * c)


@given(numbers, numbers.filter(bool))
def test_division_cuts_towards_zero(a: int, b: int) -> None:
    quotient, rest = int(expr([str(a), "/", str(b)])), int(expr([str(a), "%", str(b)]))
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or (rest < 0) == (a < 0)


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("32 / 4 / 2", "4"),
        ("a", "a"),
        ("-- 5", "5"),
        ("abc : b", "0"),
        ("length abc", "3"),
        ("substr abc 0 1", ""),
    ],
)
def test_words(words: str, result: str) -> None:
    assert expr(words.split()) == result


@pytest.mark.parametrize("words", ["", "1 +", "1 / 0", "a + 1", "( 1", "1 2", "1 : \\("])
def test_mistakes(words: str) -> None:
    with pytest.raises(ExpressionError):
        expr(words.split())


def test_null_results() -> None:
    assert [is_null(value) for value in ("", "0", "00", "-0", "1", "a")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_lots_are_drawn_in_order() -> None:
    assert shuf(["-i", "29000-39999", "-n", "1"], [], False) == ["29000"]
    assert shuf(["-i", "29000-39999", "-n1"], [], True) == ["39999"]
    assert shuf(["--input-range=1-3"], [], False) == ["1", "2", "3"]
    assert shuf(["-n", "2"], ["a", "b", "c"], False) == ["a", "b"]
    assert shuf(["-n", "2"], ["a", "b", "c"], True) == ["c", "b"]
    assert shuf(["-e", "a", "b", "-n", "1"], [], False) == ["a"]
    assert len(shuf(["-i", "0-999999999"], [], False)) == 10_000
