"""Gitignore-style patterns: the plain ones name what pathspec says."""

from __future__ import annotations

import sys

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.gitignore import matcher

NAMES = st.sampled_from(["a", "b", "a.py", ".py", "ab", ".a", "a-b_1", "b.a"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PLAIN = st.one_of(
    st.tuples(st.sampled_from(["", "/"]), PATHS, st.sampled_from(["", "/"])).map("".join),
    st.sampled_from(
        ["*", "*.py", "*a", "*.a", "a*", "?", "**", "**/a", "a/**", "a/**/b", "a/*", "/*/b/", "**/a/**"]
    ),
)
ODD = st.sampled_from(["!a", "[ab]", "**/", "a**", "**a", "# a", "", " a", "a ", "/", "a//b", "\\a", "."])


@given(st.lists(PLAIN, max_size=3), PATHS)
def test_plain_patterns_name_what_git_ignores(patterns: list[str], path: str) -> None:
    assert matcher(patterns)(path) == pathspec.GitIgnoreSpec.from_lines(patterns).match_file(path)


@given(st.lists(st.one_of(PLAIN, ODD), max_size=4), PATHS)
def test_so_do_all_others(patterns: list[str], path: str) -> None:
    assert matcher(patterns)(path) == pathspec.GitIgnoreSpec.from_lines(patterns).match_file(path)


def test_a_broken_pattern_is_an_error() -> None:
    with pytest.raises(ValueError, match="!"):
        matcher(["!"])


def test_plain_patterns_need_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pathspec", None)

    named = matcher(["/docs/", "*.py", "Makefile"])

    assert [path for path in ("docs/a.md", "x/a.py", "x/Makefile", "x/docs/a.md") if named(path)] == [
        "docs/a.md",
        "x/a.py",
        "x/Makefile",
    ]
