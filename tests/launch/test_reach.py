"""Which variable of the environment decides a shell variable."""

from __future__ import annotations

import pytest

from example_sanity.launch.reach import History, source_of
from example_sanity.launch.syntax import parse


def behind(text: str, name: str = "A") -> str | None:
    history = History(parse("x.sh", text.encode()).assignments)
    history.advance(len(text) + 1)
    return history.reach.of(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "A"),
        ("B=1", "A"),
        ("A=${A:-1}", "A"),
        ("A=${B:-1}", "B"),
        ("b=${B:-1}; A=$b", "B"),
        ('A="${B}"', "B"),
        ("A=$1", "1"),
        ("if c; then A=1; fi", "A"),
        ("f() { A=1; }", "A"),
        ("A+=x", "A"),
        ("A=x/$A", "A"),
        ("A=x/$B", "A"),
        ("A=1", None),
        ("A=$(date)", None),
        ("B=1; A=$B", None),
        ("B=1; A=x/$B", None),
        ("A=1; A=${A:-2}", None),
    ],
)
def test_reach(text: str, name: str | None) -> None:
    assert behind(text) == name


@pytest.mark.parametrize(
    ("value", "name"), [("$A", "A"), ('"${A}"', "A"), ("$1", "1"), ("$A/x", None), ("A", None)]
)
def test_copies(value: str, name: str | None) -> None:
    assert source_of(value) == name


def test_a_place_sees_only_what_ends_before_it() -> None:
    text = "A=1\nA=2\n"
    history = History(parse("x.sh", text.encode()).assignments)
    history.advance(2)
    assert list(history.of("A")) == []
    history.advance(3)
    assert [item.value for item in history.of("A")] == ["1"]
    history.advance(len(text))
    assert [item.value for item in history.of("A")] == ["1", "2"]
