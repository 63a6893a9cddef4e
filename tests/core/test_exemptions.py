from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.exemptions import Entry, Syntax, reason_of

FILES = ("docs/a.md", "docs/b/c.md", "tests/unit/test_a.py", "tests/unit/test_b.py")


def entry(
    pattern: str,
    syntax: Syntax = Syntax.GITIGNORE,
    rules: frozenset[str] = frozenset(),
    values: frozenset[str] = frozenset(),
) -> Entry:
    return Entry(pattern, syntax, "list", "pyproject.toml", rules=rules, values=values)


def test_an_entry_names_files_below_its_bases() -> None:
    nested = Entry("a.md", Syntax.PATH, "list", "docs/ruff.toml", bases=("docs", "docs/b"))
    assert nested.match(FILES) == ["docs/a.md"]
    assert Entry("c.md", Syntax.PATH, "list", "x", bases=("", "docs/b")).match(FILES) == ["docs/b/c.md"]


def test_a_broken_expression_is_an_error() -> None:
    with pytest.raises(re.error):
        entry("(docs", Syntax.REGEX).match(FILES)


@pytest.mark.parametrize(
    ("broad", "narrow", "answer"),
    [
        ("docs/", "docs/a.md", True),
        ("docs/a.md", "docs/", False),
        ("docs/", "docs", True),
        ("docs/**", "docs/*.md", True),
        ("*.md", "docs/a.md", True),
        # All Markdown files stand in docs, today.
        ("docs/", "*.md", False),
        ("tests/unit/test_*.py", "tests/unit/", False),
        ("tests/unit/", "tests/unit/test_?.py", True),
        ("/docs/", "docs/", False),
        ("docs/", "/docs", True),
        ("gone/", "docs/a.md", False),
    ],
)
def test_covers(broad: str, narrow: str, answer: bool) -> None:
    assert entry(broad).covers(entry(narrow), FILES) is answer


@pytest.mark.parametrize(
    ("broad", "narrow", "answer"),
    [
        (r"^docs/", r"^docs/a\.md$", True),
        (r"^docs/", r"^docs/.*\.md$", True),
        (r"\.md$", r"^docs/", False),
    ],
)
def test_covers_among_expressions(broad: str, narrow: str, answer: bool) -> None:
    assert entry(broad, Syntax.REGEX).covers(entry(narrow, Syntax.REGEX), FILES) is answer


def test_a_glob_covers_the_path_of_a_file_but_not_that_of_a_folder() -> None:
    glob = entry("docs/*.md", Syntax.GLOB)
    assert glob.covers(entry("docs/a.md", Syntax.PATH), FILES)
    assert not glob.covers(entry("docs/b", Syntax.PATH), FILES)


def test_an_entry_for_fewer_rules_covers_nothing() -> None:
    some, more = frozenset({"NAM001"}), frozenset({"NAM001", "NAM002"})
    assert entry("docs/", rules=more).covers(entry("docs/a.md", rules=some), FILES)
    assert not entry("docs/", rules=some).covers(entry("docs/a.md", rules=more), FILES)


@pytest.mark.parametrize(
    ("values", "others", "answer"),
    [({"D"}, {"D100", "D2"}, True), ({"D"}, {"D100", "E501"}, False), ({"ALL"}, {"E501"}, True)],
)
def test_code_prefixes_stand_for_their_codes(values: set[str], others: set[str], answer: bool) -> None:
    broad, narrow = entry("docs/", values=frozenset(values)), entry("docs/a.md", values=frozenset(others))
    assert broad.covers(narrow, FILES) is answer


PATTERNS = st.sampled_from(
    ["docs/", "docs/*.md", "*.md", "tests/**", "tests/unit/test_a.py", "b/", "/docs/b"]
)


@given(PATTERNS, PATTERNS, PATTERNS)
def test_covering_is_an_order(one: str, two: str, three: str) -> None:
    a, b, c = entry(one), entry(two), entry(three)
    assert a.covers(a, FILES)
    if a.covers(b, FILES):
        assert set(b.match(FILES)) <= set(a.match(FILES))
        assert a.covers(c, FILES) or not b.covers(c, FILES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# inference only", "inference only"),
        ("multi-node dispatch  # noqa: E501", "multi-node dispatch"),
        ("noqa: E501", ""),
        ("type: ignore[arg-type]", ""),
        (" TODO ", ""),
        ("todo: fold into an environment variable", "todo: fold into an environment variable"),
        ("...", ""),
    ],
)
def test_reason_of(text: str, reason: str) -> None:
    assert reason_of(text) == reason
