"""Comments in shell scripts: what is quoted is none, and one covers the whole statement below it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.comments import NOTHING
from example_sanity.launch.comments import ShellComments

SHELL = ShellComments()


@pytest.mark.parametrize(
    "text",
    [
        "echo '# mark'\n",
        'echo "\n# mark\n"\n',
        "cat <<EOF\n# mark\nEOF\n",
        "echo a#mark\n",
        "echo ${x# mark}\n",
    ],
)
def test_text_that_is_no_comment(text: str) -> None:
    assert SHELL.comments(text, "mark") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo '\"' # mark\n", (1, 1)),
        ("# mark\npython3 a.py \\\n  b \\\n  c\nnext\n", (2, 4)),
        ("# mark\n\n# more\nX=(\n  a\n  b\n)\nnext\n", (4, 7)),
        ("X=(\n  a\n  # mark\n  b\n  c\n)\n", (4, 4)),
        ("X=(\n  a # mark\n  b\n)\n", (2, 2)),
        ("# mark\ncat <<EOF\none\nEOF\nnext\n", (2, 4)),
        ("# mark\nif a; then\n  b\nelse\n  c\nfi\n", (2, 6)),
        ("f() {\n  # mark\n  a &&\n    b\n  c\n}\n", (3, 4)),
        ("case $x in\n  # mark\n  a) one\n    two ;;\n  b) three ;;\nesac\n", (3, 4)),
        ("if a; then\n  b\n  # mark\nfi\n", NOTHING),
        ("a\n# mark\n", NOTHING),
    ],
)
def test_a_comment_covers_the_statement_below_it(text: str, expected: tuple[int, int]) -> None:
    assert [comment.covers for comment in SHELL.comments(text, "mark")] == [expected]


def test_columns_count_characters() -> None:
    (comment,) = SHELL.comments('echo "é"  # mark\n', "mark")

    assert (comment.column, comment.end_column) == (11, 17)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("a \\\n  b \\\n  c\n", 3, [1]),
        ("X=(\n  a\n  b\n)\n", 3, [1]),
        ("cat <<EOF\none\nEOF\n", 2, [1]),
        ("if a; then\n  b \\\n    c\nfi\n", 3, [2, 1]),
        ("a && \\\n  b\n", 2, [1]),
        ("for i in 1 2; do\n  a\ndone\n", 2, [2, 1]),
    ],
)
def test_anchors_never_lie_inside_a_statement(text: str, line: int, expected: list[int]) -> None:
    assert list(SHELL.anchors(text, line)) == expected


@pytest.mark.parametrize("line", [2, 3])
def test_a_comment_inside_a_continuation_changes_the_structure(line: int) -> None:
    lines = ["python3 a.py \\", "  b \\", "  c", "next", ""]
    cut = [*lines[: line - 1], "# c", *lines[line - 1 :]]

    assert SHELL.structure("\n".join(lines)) != SHELL.structure("\n".join(cut))
    assert SHELL.structure("\n".join(lines)) == SHELL.structure("\n".join(["# c", *lines]))


@given(st.text(alphabet="ab #mrk'\"\\\n(){};&|<$é", max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    lines = text.split("\n")
    for comment in SHELL.comments(text, "mark"):
        assert lines[comment.line - 1][comment.column - 1] == "#"
    assert SHELL.structure(text) == SHELL.structure(text)
    for number in range(1, len(lines) + 1):
        assert all(1 <= anchor <= number for anchor in SHELL.anchors(text, number))
