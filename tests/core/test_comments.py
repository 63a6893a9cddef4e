"""Which comments a file has, what they cover, and where one may be put: YAML and its like, and Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.comments import NOTHING, CommentReader, HashComments, PythonComments

HASH = HashComments()
PYTHON = PythonComments()


def covers(reader: CommentReader, text: str) -> list[tuple[int, int]]:
    return [comment.covers for comment in reader.comments(text, "mark")]


@pytest.mark.parametrize(
    "text",
    [
        "key: value\n",
        "key: '# other'\n",
        'key: "a # mark in quotes"\n',
        "key: value#mark\n",
        "mark: 1\n",
    ],
)
def test_yaml_text_that_is_no_comment(text: str) -> None:
    assert HASH.comments(text, "mark") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key: 1  # mark\n", (1, 1)),
        ("# mark\nkey: 1\nother: 2\n", (2, 2)),
        ("# mark\n\n# more\nkey:\n  a: 1\n\n  b: 2\n\nother: 2\n", (4, 7)),
        ("# mark\nkey:\n- a\n- b\nother: 2\n", (2, 4)),
        ("key:\n# mark\n- a\n- b\n", (3, 3)),
        ("key:\n  # mark\n  - a: 1\n    b: 2\n  - c\n", (3, 4)),
        ("run: |\n  # mark\n  one \\\n    two\n  three\n", (3, 4)),
        ("# mark\nlist = [\n  'a',\n]\nnext = 1\n", (2, 4)),
        ("key: 1\n# mark\n", NOTHING),
    ],
)
def test_a_comment_covers_the_entry_below_it(text: str, expected: tuple[int, int]) -> None:
    assert covers(HASH, text) == [expected]


@pytest.mark.parametrize(
    "text",
    ["x = '# mark'\n", '"""\n# mark\n"""\n', "mark = 1\n", "def broken(:  \n"],
)
def test_python_text_that_is_no_comment(text: str) -> None:
    assert PYTHON.comments(text, "mark") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = '\"'  # mark\n", (1, 1)),
        ("# mark\nx = f(\n    1,\n)\ny = 2\n", (2, 4)),
        ("# mark\n@decorated\ndef f():\n    return 1\n\n\ny = 2\n", (2, 4)),
        ("x = [\n    'a',\n    # mark\n    f(\n        1,\n    ),\n    'b',\n]\n", (4, 6)),
        ("x = 1  # noqa  # mark\n", (1, 1)),
        ("x = 1\n# mark\n", NOTHING),
    ],
)
def test_a_comment_covers_the_statement_below_it(text: str, expected: tuple[int, int]) -> None:
    assert covers(PYTHON, text) == [expected]


def test_the_place_and_the_text_of_a_comment() -> None:
    (comment,) = PYTHON.comments("é = 1  # noqa  ## mark it \n", "mark")

    assert (comment.line, comment.column, comment.end_column) == (1, 16, 26)
    assert (comment.text, comment.own_line) == ("mark it", False)


def test_anchors_are_the_starts_of_the_statements_around_a_line() -> None:
    text = "def f():\n    x = g(\n        1,\n    )\n"

    assert list(PYTHON.anchors(text, 3)) == [2, 1]
    assert list(HASH.anchors("a:\n  b:\n    - c\n", 3)) == [3, 2, 1]


def test_a_comment_on_the_file_goes_below_interpreter_and_encoding() -> None:
    assert PYTHON.top("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nx = 1\n") == 3
    assert PYTHON.top("x = 1\n") == 1


@pytest.mark.parametrize(
    ("reader", "before", "same", "different"),
    [
        (PYTHON, "x = f(\n    1)\n", "# c\nx = f(\n    1)\n", "x = f(\n    2)\n"),
        (HASH, "a:\n  - 1\n", "a:\n  # c\n  - 1\n", "a:\n  - 2\n"),
        (HASH, "run: |\n  x\n", "# c\nrun: |\n  x\n", "run: |\n  # c\n  x\n"),
        (HASH, "a = [\n1]\n", "a = [\n# c\n1]\n", "a = [\n2]\n"),
        (HASH, "* @owner\n", "# c\n* @owner\n", "* @other\n"),
    ],
)
def test_structure_ignores_comments_only(
    reader: CommentReader, before: str, same: str, different: str
) -> None:
    assert reader.structure(before) == reader.structure(same)
    assert reader.structure(before) != reader.structure(different)


@given(st.text(alphabet="ab:-# \n'\"[]{}()\\mrk", max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    for reader in (HASH, PYTHON):
        lines = text.split("\n")
        for comment in reader.comments(text, "mark"):
            assert lines[comment.line - 1][comment.column - 1] == "#"
        reader.structure(text)
        for number in range(1, len(lines) + 1):
            assert all(1 <= anchor <= number for anchor in reader.anchors(text, number))
