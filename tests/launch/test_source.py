"""Bytes, positions, and the copy that is safe to parse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.finding import Span
from example_sanity.launch.source import Source, decode, masked


@pytest.mark.parametrize("data", [b"", b"A=1\n", b"${x:2:$y}", b"echo \\ls\n  cp a\\\nb\n"])
def test_ordinary_text_is_parsed_as_it_is(data: bytes) -> None:
    assert masked(data) == data


@pytest.mark.parametrize(
    ("data", "copy"),
    [
        ("$NAMEé".encode(), b"$NAME.."),
        ("$é".encode(), b"..."),
        (b"a\0b", b"a.b"),
        (b"${x:$y:2}", b"${x:_y:2}"),
        (b"${x[@]:$y}", b"${x[@]:_y}"),
        (b"${@:$y}", b"${@:_y}"),
        (b"a\n  \\ls", b"a\n   ls"),
    ],
)
def test_what_the_grammar_stumbles_over_is_masked(data: bytes, copy: bytes) -> None:
    assert masked(data) == copy


@given(st.binary(max_size=40))
def test_the_copy_has_the_same_length(data: bytes) -> None:
    assert len(masked(data)) == len(data)
    assert masked(data).isascii()


def test_spans() -> None:
    source = Source("é=1\nab\n".encode())
    assert source.span(0, 2) == Span(1, 1, 1, 2)
    assert source.span(3, 4) == Span(1, 3, 1, 4)
    assert source.span(3, 6) == Span(1, 3, 2, 2)
    assert source.span(5, 7) == Span(2, 1, 2, 3)
    assert source.span(8, 8) == Span(3, 1, 3, 1)


@given(st.text("aé漢\n", max_size=20), st.data())
def test_a_position_counts_lines_and_characters(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    before = text[:place]
    line, column = Source(text.encode()).position(len(before.encode()))
    assert line == before.count("\n") + 1
    assert column == len(before.rpartition("\n")[2]) + 1


@given(st.binary(max_size=20))
def test_undecodable_bytes_are_kept(data: bytes) -> None:
    assert decode(data).encode("utf-8", "surrogateescape") == data
