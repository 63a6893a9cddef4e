"""GitHub's patterns for paths: each row of the cheat sheet, and what holds for all patterns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.workflows import globs

NAMES = st.text("abcxyz._-", min_size=1, max_size=6).filter(lambda name: set(name) != {"."})
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
APART = [
    ("*", "a/b.py"),
    ("*.py", "src/a.py"),
    ("src", "src/a.py"),
    ("src/", "src/a.py"),
    ("src/*", "src/lib/a.py"),
    ("src/*.py", "src/a.pyi"),
    ("lib/**", "src/lib/a.py"),
    ("**/lib/**", "src/mylib/a.py"),
    ("a?.py", "ab.py"),
    ("run[1-3].sh", "run4.sh"),
    ("README.md", "docs/README.md"),
    ("a.b", "axb"),
    (r"a\*b", "axb"),
]
TOGETHER = [
    ("*", "a.py"),
    ("**", "a/b/c.py"),
    ("**.py", "a/b/c.py"),
    ("**/*.py", "a.py"),
    ("**/*.py", "a/b/c.py"),
    ("src/**", "src/lib/a.py"),
    ("src/**/*.py", "src/a.py"),
    ("src/**/*.py", "src/lib/sub/a.py"),
    ("**/lib/**", "lib/a.py"),
    ("**/lib/**", "src/lib/sub/a.py"),
    ("**/*src/**", "my-src/a.py"),
    ("a?.py", ".py"),
    ("a+.py", "aaa.py"),
    ("run[1-3].sh", "run2.sh"),
    (r"a\*b", "a*b"),
]


@pytest.mark.parametrize(("pattern", "path"), APART)
def test_these_do_not_match(pattern: str, path: str) -> None:
    assert globs.matched(pattern, [path]) == []


@pytest.mark.parametrize(("pattern", "path"), TOGETHER)
def test_these_match(pattern: str, path: str) -> None:
    assert globs.matched(pattern, [path]) == [path]


@given(PATHS, PATHS)
def test_a_pattern_without_wildcards_matches_itself_alone(one: str, other: str) -> None:
    assert globs.matched(one, [one, other]) == ([one, other] if one == other else [one])


@given(PATHS, PATHS)
def test_two_stars_behind_a_folder_match_what_lies_below(folder: str, path: str) -> None:
    assert bool(globs.matched(f"{folder}/**", [path])) == path.startswith(f"{folder}/")
    assert globs.matched(f"**/{folder}", [f"{path}/{folder}", folder]) == [f"{path}/{folder}", folder]


@given(st.lists(PATHS, max_size=5), PATHS)
def test_the_last_pattern_that_matches_decides(patterns: list[str], path: str) -> None:
    index = globs.decides([*patterns, "**"], path)

    assert index == len(patterns)
    assert globs.decides([*patterns, f"!{path}", *["zz/*"] * 2], path) == len(patterns)


def test_a_broken_pattern_is_an_error() -> None:
    with pytest.raises(re.error):
        globs.matched("a[z-a]", ["a"])
