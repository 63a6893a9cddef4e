"""Operands of expansions: their end, and their text as an assignment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.launch.operand import (
    as_assigned,
    as_double_quoted,
    close_of_expansion,
    has_quoting,
    skip_unit,
)


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("}", ""),
        ("plain}x", "plain"),
        ('"a}b"}x', '"a}b"'),
        ("'a}b'}x", "'a}b'"),
        (r"a\}b}x", r"a\}b"),
        ("$(echo })}x", "$(echo })"),
        ("$(echo ')' \")\")}x", "$(echo ')' \")\")"),
        ("${B:-${C:-d}}}x", "${B:-${C:-d}}"),
        ("$((a + (b)))}x", "$((a + (b)))"),
        ("`echo }`}x", "`echo }`"),
        (r"$'a\'}b'}x", r"$'a\'}b'"),
        ("['a','b']}x", "['a','b']"),
    ],
)
def test_an_unquoted_operand_ends_at_its_own_brace(text: str, operand: str) -> None:
    end = close_of_expansion(text, 0, False)
    assert end is not None
    assert text[:end] == operand


@pytest.mark.parametrize(
    ("text", "operand"), [("it's}x", "it's"), ('"a}b"}x', '"a}b"'), ("${B:-it's}}x", "${B:-it's}")]
)
def test_a_single_quote_quotes_nothing_between_double_quotes(text: str, operand: str) -> None:
    end = close_of_expansion(text, 0, True)
    assert end is not None
    assert text[:end] == operand


@pytest.mark.parametrize("text", ["", "abc", '"abc}', "$(abc}", "'}", "\\}"])
def test_an_operand_without_an_end(text: str) -> None:
    assert close_of_expansion(text, 0, False) is None


@pytest.mark.parametrize(
    ("operand", "text"),
    [
        ("plain", "plain"),
        ('"a b"', "a b"),
        ("'a'", "'a'"),
        (r"a\"b", r"a\"b"),
        (r"{\"a\": 1\}", r"{\"a\": 1}"),
        ('$(f "x")', '$(f "x")'),
        ("`f x`", "$(f x)"),
        ('pre"$X"post', "pre$Xpost"),
    ],
)
def test_between_double_quotes(operand: str, text: str) -> None:
    assert as_double_quoted(operand) == text


@pytest.mark.parametrize(
    ("operand", "scalar", "words"),
    [
        ("plain", "plain", "plain"),
        ('"a b"', '"a b"', '"a b"'),
        ("a b", r"a\ b", "a b"),
        ("a;b&c", r"a\;b\&c", r"a\;b\&c"),
        ("{a,b}", r"\{a,b}", r"\{a,b}"),
        ("#x", r"\#x", r"\#x"),
        ("~/x", "~/x", "~/x"),
        ("a~", r"a\~", r"a\~"),
        ("$(f; g)", "$(f; g)", "$(f; g)"),
        ("`f x`", "$(f x)", "$(f x)"),
        ("a\nb", "a$'\\n'b", "a\nb"),
    ],
)
def test_as_an_assignment(operand: str, scalar: str, words: str) -> None:
    assert as_assigned(operand, split=False) == scalar
    assert as_assigned(operand, split=True) == words


def test_what_counts_as_quoting() -> None:
    assert [has_quoting(text) for text in ("a b", "$(f x)", '"a"', "'a'", "a\\b", "`f`")] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]


shell_text = st.text(alphabet="ab \"'\\`$(){}", max_size=12)


@given(shell_text, st.booleans())
def test_every_text_is_walked_to_its_end(text: str, quoted: bool) -> None:
    index = 0
    while index < len(text):
        after = skip_unit(text, index, quoted)
        assert after > index
        index = after
    assert isinstance(as_double_quoted(text), str)
    assert isinstance(as_assigned(text, split=True), str)
