"""What documents are read to hold, and where each piece stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import pytest

from example_sanity import session
from example_sanity.checks.docs import markdown, notebooks, rst
from example_sanity.checks.docs.model import Document
from example_sanity.core.errors import Uninspectable
from example_sanity.core.rule import Subject
from example_sanity.launch import quoted
from example_sanity.launch.quoted import Line, Quoted
from helpers import Write


def shown(document: Document) -> list[str]:
    """The inline code and links as the file has them at their spans."""
    spans = [piece.span for piece in document.codes] + [link.span for link in document.links]
    return [document.lines[span.line - 1][span.column - 1 : span.end_column - 1] for span in spans]


def test_inline_parts_of_markdown_stand_where_the_file_has_them() -> None:
    document = markdown.read(
        "a.md", 'See `a b` and `a b`, [the *x*](y/z.md#q "t") and ![i](<p q.png>).\n\n> `quoted`\n'
    )
    assert [piece.text for piece in document.codes] == ["a b", "a b", "quoted"]
    assert [piece.span.column for piece in document.codes] == [6, 16, 4]
    assert [(link.kind, link.target) for link in document.links] == [
        ("link", "y/z.md#q"),
        ("image", "p%20q.png"),
    ]
    assert shown(document) == ["a b", "a b", "quoted", "y/z.md#q", "p q.png"]


def test_the_target_of_a_link_is_no_part_of_its_text() -> None:
    text = "[`a.md`](a.md), [a.md](<a.md>) and [a](a.md) [a](a.md)\n"
    links = markdown.read("b.md", text).links
    assert [link.span.column for link in links] == [10, 25, 40, 50]


def test_code_of_markdown_keeps_its_columns() -> None:
    text = "1. Run\n\n   ```bash\n   ls a\n     ls b\n   ```\n\nThen\n\n    indented\n"
    first, second = markdown.read("a.md", text).blocks
    assert (first.language, [(line.text, line.line, line.column) for line in first.lines]) == (
        "bash",
        [("ls a", 4, 4), ("  ls b", 5, 4)],
    )
    assert (second.language, [(line.text, line.line, line.column) for line in second.lines]) == (
        "",
        [("indented", 10, 5)],
    )


def test_anchors_are_those_of_github() -> None:
    text = '# A `b` & C!\n\n## Twice\n\n## Twice\n\n<a id="own"></a>\n\n(label)=\n## 🎉 News\n'
    assert markdown.read("a.md", text).anchors == {"a-b--c", "twice", "twice-1", "own", "label", "-news"}


def test_front_matter_is_no_text() -> None:
    document = markdown.read("a.md", "---\norphan: true\nkey: `x`\n---\n\n`y`\n")
    assert document.orphan
    assert [(piece.text, piece.span.line) for piece in document.codes] == [("y", 6)]


def test_myst_directives_and_roles() -> None:
    text = "```{toctree}\n:hidden:\n\na/b\nTitle <c>\n```\n\n:::{literalinclude} x.py\n:::\n\n{doc}`d` {ref}`see <e>` {py:func}`f`\n"
    document = markdown.read("a.md", text)
    assert [[entry.text for entry in tree.entries] for tree in document.toctrees] == [["a/b", "c"]]
    assert {(link.kind, link.target) for link in document.links} == {
        ("include", "x.py"),
        ("doc", "d"),
        ("ref", "e"),
    }
    assert document.codes == []
    assert document.blocks == []


def test_tables_and_lists_of_markdown() -> None:
    text = "| Dir | For |\n|---|---|\n| `a/` | x `y` |\n| plain | z |\n\n- `b/`: one\n- text `c/`\n"
    document = markdown.read("a.md", text)
    assert [[piece.text for piece in listing.entries] for listing in document.listings] == [["a/"], ["b/"]]
    (table,) = document.tables
    assert (table.header, table.rows, table.numbers) == (
        ("Dir", "For"),
        (("`a/`", "x `y`"), ("plain", "z")),
        (3, 4),
    )


def test_html_in_markdown() -> None:
    document = markdown.read(
        "a.md", '<p>\n<img src="a.png"> <a href="b.md">b</a>\n</p>\n\n<!-- <img src="c.png"> -->\n'
    )
    assert [(link.kind, link.target) for link in document.links] == [("image", "a.png"), ("link", "b.md")]
    assert shown(document) == ["a.png", "b.md"]


def test_inline_parts_of_rst_stand_where_the_file_has_them() -> None:
    text = "Title\n=====\n\nSet ``a.b`` or `c`; see `the page\n<x.rst>`_ and :doc:`more <y>`.\n\n.. _label:\n\n:ref:`label`\n"
    document = rst.read("a.rst", text)
    assert [piece.text for piece in document.codes] == ["a.b", "c"]
    assert {(link.kind, link.target) for link in document.links} == {
        ("link", "x.rst"),
        ("doc", "y"),
        ("ref", "label"),
    }
    assert sorted(shown(document)) == ["a.b", "c", "label", "x.rst", "y"]
    assert document.anchors == {"title", "label"}


def test_blocks_of_rst() -> None:
    text = (
        "Run::\n\n    ls a\n\n.. code-block:: bash\n   :linenos:\n\n   ls b\n     ls c\n\n.. note::\n\n   .. code:: python\n\n"
        "      import x\n\n.. comment ``no``\n   ``neither``\n"
    )
    document = rst.read("a.rst", text)
    assert [
        (block.language, block.text, block.lines[0].line, block.lines[0].column) for block in document.blocks
    ] == [
        ("", "ls a", 3, 5),
        ("bash", "ls b\n  ls c", 8, 4),
        ("python", "import x", 15, 7),
    ]
    assert document.codes == []


def test_inline_code_of_rst_ends_with_its_paragraph() -> None:
    document = rst.read("a.rst", "- ``open\n- ``a`` (``b``)\n")
    assert [piece.text for piece in document.codes] == ["a", "b"]


def test_an_index_of_rst() -> None:
    document = rst.read("a.rst", ":orphan:\n\n.. toctree::\n   :glob:\n   :caption: C\n\n   a/*\n   T <b>\n")
    assert document.orphan
    (tree,) = document.toctrees
    assert (tree.globbed, [(entry.text, entry.span.line) for entry in tree.entries]) == (
        True,
        [("a/*", 7), ("b", 8)],
    )


def test_a_notebook_is_documents_and_blocks() -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# T\n", "see `é/x.py`"]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["import app\n", "!bash x.sh\n", "%time 1"],
        },
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": "%%bash\nls a"},
    ]
    document = notebooks.read("a.ipynb", json.dumps({"cells": cells}, indent=1, ensure_ascii=False))
    assert shown(document) == ["é/x.py"]
    assert [(block.language, block.text) for block in document.blocks] == [
        ("python", "import app\n\n"),
        ("bash", "bash x.sh"),
        ("bash", "ls a"),
    ]
    line = document.blocks[1].lines[0]
    assert document.lines[line.line - 1][line.column - 1 :].startswith("bash x.sh")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": [1]}', "not json", "[" * 100_000])
def test_what_is_no_notebook_is_said(text: str) -> None:
    with pytest.raises(Uninspectable, match="no notebook"):
        notebooks.read("a.ipynb", text)


@pytest.mark.parametrize(
    "text", ["", "\n", "```", "`", "```bash", "| a |\n|---|", "::\n", ".. \n", "[x](", "---\n", "\r\n`a`\r\n"]
)
def test_any_text_is_a_document(text: str) -> None:
    assert markdown.read("a.md", text).path == "a.md"
    assert rst.read("a.rst", text).path == "a.rst"


def test_only_the_blocks_that_changed_are_read_again(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def noting(lines: Sequence[Line]) -> Quoted:
        texts.append(lines[0].text)
        return quoted.read(lines)

    monkeypatch.setattr("example_sanity.checks.docs.model.read", noting)

    def commands(text: str, *, cache: bool = True) -> list[tuple[int, str]]:
        run = session.open_run((), root=write({"a.md": text, "example-sanity.toml": ""}), cache=cache)
        (document,) = cast("Sequence[Document]", run.load(Subject.DOCUMENT, "a.md"))
        run.save()
        quotes = [command for block in document.blocks for command in block.quoted.commands]
        return [(command.span.line, command.words[0].text) for command in quotes]

    one, two = "```bash\nls a\n```\n", "\n```bash\nmake b\n```\n\n```bash\n```\n"
    assert commands(one + two) == [(2, "ls"), (6, "make")]
    assert texts == ["ls a", "make b"]
    assert commands("# Title\n" + one + two) == [(3, "ls"), (7, "make")]
    assert texts == ["ls a", "make b"]
    assert commands(two) == [(3, "make")]
    assert commands(one) == commands(one, cache=False) == [(2, "ls")]
    assert texts == ["ls a", "make b", "ls a", "ls a"]
