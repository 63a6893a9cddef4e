from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.finding import Span
from example_sanity.core.textplaces import own_lines, toml_places

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = '''\
# A comment with "quotes" and [brackets].
top = "1"
[a.b]  # [not.a.header]
"quoted key" = 'it = [1]'
dotted.key = """
two "lines" # no comment
"""
list = [ # one
    "x", "y]",
    # "z",
    ["in", { deep = "d,}" }],
]
when = 1979-05-27 07:32:00 # late
[[c]]
n = 1
[[c]]
n = 2
[c.d]
e = { f = 3, g.h = "4" }
[[c.x]]
y = true
'''


def cut(text: str, span: Span) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    return "\n".join(lines)[span.column - 1 :]


def test_places() -> None:
    found = {key: cut(TEXT, place.span) for key, place in toml_places(TEXT).items()}
    assert found == {
        ("top",): '"1"',
        ("a", "b"): "[a.b]",
        ("a", "b", "quoted key"): "'it = [1]'",
        ("a", "b", "dotted", "key"): '"""\ntwo "lines" # no comment\n"""',
        ("a", "b", "list", 0): '"x"',
        ("a", "b", "list", 1): '"y]"',
        ("a", "b", "list", 2, 0): '"in"',
        ("a", "b", "list", 2, 1, "deep"): '"d,}"',
        ("a", "b", "list", 2, 1): '{ deep = "d,}" }',
        ("a", "b", "list", 2): '["in", { deep = "d,}" }]',
        ("a", "b", "list"): found["a", "b", "list"],
        ("a", "b", "when"): "1979-05-27 07:32:00",
        ("c", 0): "[[c]]",
        ("c", 0, "n"): "1",
        ("c", 1): "[[c]]",
        ("c", 1, "n"): "2",
        ("c", 1, "d"): "[c.d]",
        ("c", 1, "d", "e", "f"): "3",
        ("c", 1, "d", "e", "g", "h"): '"4"',
        ("c", 1, "d", "e"): '{ f = 3, g.h = "4" }',
        ("c", 1, "x", 0): "[[c.x]]",
        ("c", 1, "x", 0, "y"): "true",
    }
    assert found["a", "b", "list"].startswith("[ # one")
    assert found["a", "b", "list"].endswith("],\n]")


KEYS = st.sampled_from(["a", "b-c", "'d e'"])
VALUES = st.recursive(
    st.sampled_from(['"x # y"', "'[z]'", "12", "true", '"""\nm"n\n"""', '"\\"q"']),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: "[\n " + ", # c\n ".join([*items, ""]) + "]"),
    max_leaves=5,
)
TABLES = st.lists(st.tuples(KEYS, VALUES), unique_by=lambda pair: pair[0], max_size=3)


@given(st.lists(TABLES, max_size=4))
def test_every_value_is_where_its_place_says(tables: list[list[tuple[str, str]]]) -> None:
    text = "".join("[[t]]\n" + "".join(f"{key} = {value}\n" for key, value in rows) for rows in tables)
    data = tomllib.loads(text)
    for key, place in toml_places(text).items():
        value: Any = data
        for part in key:
            value = value[part]
        if not isinstance(value, dict):
            assert tomllib.loads("v = " + cut(text, place.span))["v"] == value


@pytest.mark.parametrize(
    ("text", "number", "deleted"),
    [
        ('[\n  "a",\n]', 2, "[\n]"),
        ('[\n  "a"  # why\n]', 2, "[\n]"),
        ('[\n  # one\n  "a",\n  # two\n  "b",\n]', 3, '[\n  # two\n  "b",\n]'),
        ('[\n  # both\n  "a",\n  "b",\n]', 3, '[\n  # both\n  "b",\n]'),
        ('[\n  "a", "b",\n]', 2, None),
        ('["a",\n]', 1, None),
        ('[\n  "a" + x,\n]', 2, None),
        ('x\n"a"', 2, "x\n"),
    ],
)
def test_own_lines(text: str, number: int, deleted: str | None) -> None:
    lines = text.split("\n")
    start = lines[number - 1].index('"a"') + 1
    span = own_lines(lines, Span(number, start, number, start + 3))
    if deleted is None:
        assert span is None
    else:
        assert span is not None
        kept = [*lines[: span.line - 1], *lines[span.end_line - (span.end_column == 1) :]]
        assert "\n".join(kept).rstrip("\n") == deleted.rstrip("\n")
