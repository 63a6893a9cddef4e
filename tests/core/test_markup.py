"""Comments in Markdown and reStructuredText: what is quoted is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.comments import NOTHING
from example_sanity.core.markup import MarkdownComments, RstComments

MARKDOWN = MarkdownComments()
RST = RstComments()


@pytest.mark.parametrize(
    "text",
    [
        "# sanity\n",
        "`<!-- sanity -->` in code\n",
        "```\n<!-- sanity -->\n```\n",
        "- item\n\n  ~~~~\n  <!-- sanity -->\n  ~~~\n  ~~~~\n",
    ],
)
def test_markdown_that_is_no_comment(text: str) -> None:
    assert MARKDOWN.comments(text, "sanity") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text <!-- sanity -->\nmore\n", (1, 1)),
        ("<!-- sanity -->\n\none\ntwo\n\nthree\n", (3, 4)),
        ("<!-- sanity -->\n```bash\none\n\ntwo\n```\nthree\n", (2, 6)),
        ("<!-- sanity -->\n<!-- other -->\n| a |\n|---|\n| b |\n", (3, 5)),
        ("text\n\n<!-- sanity -->\n", NOTHING),
    ],
)
def test_a_markdown_comment_covers_the_next_block(text: str, expected: tuple[int, int]) -> None:
    assert [comment.covers for comment in MARKDOWN.comments(text, "sanity")] == [expected]


def test_where_a_markdown_comment_may_stand() -> None:
    assert list(MARKDOWN.anchors("one\ntwo\n\nthree\n", 2)) == [1]
    assert list(MARKDOWN.anchors("one\n\n```\na\n\nb\n```\n", 6)) == [3]
    assert MARKDOWN.top("---\ntitle: x\n---\n# Title\n") == 4
    assert MARKDOWN.top("# Title\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "the sanity of it\n",
        ".. sanity:: directive\n",
        "An example::\n\n  .. sanity: quoted\n",
        ".. code-block:: rst\n\n   .. sanity: quoted\n\n   .. sanity: quoted\n",
    ],
)
def test_rst_that_is_no_comment(text: str) -> None:
    assert RST.comments(text, "sanity") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. sanity: x\n\none\ntwo\n\nthree\n", (3, 4)),
        (".. sanity: x\n\n.. code-block:: bash\n\n   one\n\n   two\n\nthree\n", (3, 7)),
        (".. note::\n\n   .. sanity: x\n\n   one\n\n   two\n", (5, 5)),
        (".. code-block:: bash\n\n   one\n\n.. sanity: x\n\ntwo\n", (7, 7)),
        ("one\n\n.. sanity: x\n", NOTHING),
    ],
)
def test_an_rst_comment_covers_the_next_block(text: str, expected: tuple[int, int]) -> None:
    assert [comment.covers for comment in RST.comments(text, "sanity")] == [expected]


def test_where_an_rst_comment_may_stand() -> None:
    assert list(RST.anchors("one\ntwo\n\n.. code-block:: bash\n\n   a\n\n   b\n", 8)) == [4]
    assert list(RST.anchors(".. note::\n\n   one\n   two\n", 4)) == [3, 1]


@given(st.text(alphabet="ab`~<!-> .:sanity\n", max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    for reader in (MARKDOWN, RST):
        lines = text.split("\n")
        for comment in reader.comments(text, "sanity"):
            assert "sanity" in lines[comment.line - 1][comment.column - 1 : comment.end_column]
        reader.structure(text)
        for number in range(1, len(lines) + 1):
            assert all(1 <= anchor <= number for anchor in reader.anchors(text, number))
