from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.ignores.regexes import alternatives


@pytest.mark.parametrize(
    "expression",
    [
        r"^.*\.(ipynb)$",
        r"\.(png|svg)$",
        "(^|/)vendored/",
        "^docs/",
        "^(a|docs)/(b|c)$",
        "(?!docs/|src/).*",
        "(docs/|src/)+x",
        "a|b",
        "[a|b]cd",
        r"docs\|src",
    ],
)
def test_stays_whole(expression: str) -> None:
    assert [(item.text, item.expression) for item in alternatives(expression)] == [(expression, expression)]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("^docs/|^src/", [("^docs/", "^docs/"), ("^src/", "^src/")]),
        (r"^(docs/|src/a\.py)$", [("docs/", "^(docs/)$"), (r"src/a\.py", r"^(src/a\.py)$")]),
        ("(?:docs|src)/", None),
        ("^(?:docs/(a|b)|src)/x", [("docs/(a|b)", "^(?:docs/(a|b))/x"), ("src", "^(?:src)/x")]),
        ("(?i)docs/|src/", [("docs/", "(?i)docs/"), ("src/", "(?i)src/")]),
        (
            "(?x)^(\n  docs/  # old | older\n  | src/a\\.py\n)$\n",
            [("docs/", "(?x)^(\n  docs/  \n  )$\n"), ("src/a\\.py", "(?x)^( src/a\\.py\n)$\n")],
        ),
    ],
)
def test_is_taken_apart(expression: str, found: list[tuple[str, str]] | None) -> None:
    expected = found or [("docs", "(?:docs)/"), ("src", "(?:src)/")]
    assert [(item.text, item.expression) for item in alternatives(expression)] == expected


PART = st.sampled_from(["docs/", r"src/a\.py", "(lib|bin)/x", "[|)]ab", "tests/.*"])
FILES = ("docs/a", "src/a.py", "lib/x", "bin/x", "|ab", "tests/t.py", "other", "x/docs/a")


@given(st.lists(PART, min_size=1, max_size=4), st.sampled_from(["{}", "^({})", "(?:{})$", "(?x)^( {} )"]))
def test_the_alternatives_match_together_what_the_whole_matches(parts: list[str], frame: str) -> None:
    whole = frame.format("|".join(parts))
    pieces = [re.compile(item.expression) for item in alternatives(whole)]
    for path in FILES:
        assert (re.search(whole, path) is not None) == any(piece.search(path) for piece in pieces)
