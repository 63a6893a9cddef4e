"""Expressions and matrices: what a file alone says of them, and the way back to the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.workflows import github
from example_sanity.checks.workflows.expressions import UNKNOWN, WORKSPACE, Scope
from example_sanity.checks.workflows.model import Text

SCOPE = Scope(
    {"matrix.tp": "2", "matrix.info.file": "a.py", "matrix.open": None},
    {"MODEL": "qwen", "SECRET": "${{ secrets.x }}"},
    {"steps": "5"},
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("matrix.tp", "2"),
        ("matrix.info.file", "a.py"),
        ("matrix.info.other", ""),  # a combination without it
        ("matrix.open", None),
        ("matrix.open.file", None),
        ("env.MODEL", "qwen"),
        ("env.SECRET", None),
        ("env.NOWHERE", None),
        ("inputs.steps", "5"),
        ("github.event.inputs.steps", "5"),
        ("inputs.other", None),
        ("github.workspace", WORKSPACE),
        ("github.sha", None),
        ("'it''s'", "it's"),
        ("matrix.none || 'x || y'", "x || y"),
        ("matrix.tp || 4", "2"),
        ("false || matrix.tp", "2"),
        ("secrets.x || 'y'", None),
        ("matrix.tp == '2' && 'a'", None),
        ("fromJson(matrix.tp)", None),
    ],
)
def test_what_an_expression_is(expression: str, value: str | None) -> None:
    assert SCOPE.value(expression) == value


def test_without_a_matrix_nothing_is_known_of_it() -> None:
    assert Scope().value("matrix.tp") is None


def test_a_filled_text_points_back_at_its_source() -> None:
    text = Text(
        "run ${{ matrix.info.file }} --tp ${{matrix.tp}} ${{ github.sha }} end\nnext", ((4, 9), (5, 9))
    )
    filled = SCOPE.fill(text)

    assert filled.text == f"run a.py --tp 2 {UNKNOWN} end\nnext"
    at = filled.text.index
    span = filled.span(at("a.py"), at("a.py") + 4)
    assert (span.line, span.column, span.end_column) == (4, 13, 36)
    span = filled.span(at("--tp"), at("--tp") + 4)
    assert (span.column, span.end_column) == (37, 41)
    span = filled.span(at("next"), at("next") + 4)
    assert (span.line, span.column, span.end_column) == (5, 9, 13)


@given(
    st.lists(
        st.sampled_from(["ab ", "${{ matrix.tp }}", "${{ matrix.none }}", "${{ x }}", "\n", "é"]), max_size=8
    )
)
def test_literal_text_keeps_its_place(parts: list[str]) -> None:
    source = "".join([*parts, "END"])
    filled = SCOPE.fill(Text(source, tuple((1 + row, 1) for row in range(source.count("\n") + 1))))
    span = filled.span(len(filled.text) - 3, len(filled.text))

    assert span.line == 1 + source.count("\n")
    assert span.column == len(source.rpartition("\n")[2]) - 2
    assert span.end_column == span.column + 3


def _combinations(matrix: str) -> list[dict[str, str | None]]:
    text = f"on: push\njobs:\n  a:\n    strategy:\n      matrix: {matrix}\n    steps: []\n"
    return [dict(item) for item in github.read("w.yml", text).jobs[0].combinations]


@pytest.mark.parametrize(
    ("matrix", "found"),
    [
        ("{tp: [1, 2]}", [{"matrix.tp": "1"}, {"matrix.tp": "2"}]),
        ("{tp: [1, 2], pp: [4], exclude: [{tp: 1}]}", [{"matrix.tp": "2", "matrix.pp": "4"}]),
        # an entry of include that changes no axis is added to all, one that would is a combination of its own
        ("{tp: [1], include: [{x: y}]}", [{"matrix.tp": "1", "matrix.x": "y"}]),
        (
            "{tp: [1], include: [{tp: 1, x: y}, {tp: 3}]}",
            [{"matrix.tp": "1", "matrix.x": "y"}, {"matrix.tp": "3"}],
        ),
        ("{include: [{f: a}, {f: b}]}", [{"matrix.f": "a"}, {"matrix.f": "b"}]),
        ("{info: [{f: a, n: 1}]}", [{"matrix.info.f": "a", "matrix.info.n": "1"}]),
        ("{tp: '${{ fromJson(x) }}', pp: [1]}", [{"matrix.tp": None, "matrix.pp": "1"}]),
        ("'${{ fromJson(x) }}'", [{"matrix": None}]),
        ("{include: '${{ fromJson(x) }}'}", [{"matrix": None}]),
    ],
)
def test_combinations_of_a_matrix(matrix: str, found: list[dict[str, str | None]]) -> None:
    assert _combinations(matrix) == found
