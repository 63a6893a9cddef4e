"""What each pattern language names; the rows for ruff, mypy and git were compared with those tools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core.patterns import Syntax, literal, names_something, predicate, samples

FILES = (
    "a.py",
    "docs/a.md",
    "docs/img/b.png",
    "src/pkg/__init__.py",
    "src/pkg/a.py",
    "src/pkg/sub/c.py",
    "tests/a/m.py",
    "tests/n.py",
)
PY = tuple(path for path in FILES if path.endswith(".py"))


@pytest.mark.parametrize(
    ("syntax", "pattern", "named"),
    [
        (Syntax.PATH, "docs", ("docs/a.md", "docs/img/b.png")),
        (Syntax.PATH, "./docs/img/", ("docs/img/b.png",)),
        (Syntax.PATH, "doc", ()),
        (Syntax.PATH, ".", FILES),
        (Syntax.GLOB, "tests/*.py", ("tests/a/m.py", "tests/n.py")),
        (Syntax.GLOB, "*.md", ("docs/a.md",)),
        (Syntax.GITIGNORE, "a.py", ("a.py", "src/pkg/a.py")),
        (Syntax.GITIGNORE, "/a.py", ("a.py",)),
        (Syntax.GITIGNORE, "docs/*", ("docs/a.md", "docs/img/b.png")),
        (Syntax.GITIGNORE, "!docs/", ("docs/a.md", "docs/img/b.png")),
        (Syntax.REGEX, "^tests/", ("tests/a/m.py", "tests/n.py")),
        (Syntax.REGEX, r"^(a|docs/a)\.", ("a.py", "docs/a.md")),
        (Syntax.FOLDER_REGEX, "^docs/$", ("docs/a.md", "docs/img/b.png")),
        (Syntax.FOLDER_REGEX, "/sub/$", ("src/pkg/sub/c.py",)),
        (Syntax.FOLDER_REGEX, r"n\.py$", ("tests/n.py",)),
        (Syntax.RUFF, "sub", ("src/pkg/sub/c.py",)),
        (Syntax.RUFF, "src/pkg/", ("src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/c.py")),
        (Syntax.RUFF, "./src", ("src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/c.py")),
        (Syntax.RUFF, "pkg/a.py", ()),
        (Syntax.RUFF, "**/pkg/a.py", ("src/pkg/a.py",)),
        (Syntax.RUFF, "tests/*.py", ("tests/a/m.py", "tests/n.py")),
        (Syntax.RUFF, "{m,n}.py", ("tests/a/m.py", "tests/n.py")),
        (Syntax.RUFF, "{docs/a.md,n.py}", ("docs/a.md",)),
        (Syntax.RUFF, "[mn].py", ("tests/a/m.py", "tests/n.py")),
        (Syntax.RUFF, "[!mn_].py", ("a.py", "src/pkg/a.py", "src/pkg/sub/c.py")),
        (Syntax.RUFF_FILE, "tests", ()),
        (Syntax.RUFF_FILE, "tests/", ()),
        (Syntax.RUFF_FILE, "tests/**", ("tests/a/m.py", "tests/n.py")),
        (Syntax.RUFF_FILE, "**/c.py", ("src/pkg/sub/c.py",)),
        (Syntax.RUFF_FILE, "__init__.py", ("src/pkg/__init__.py",)),
        (Syntax.RUFF_FILE, "!src/**", ("a.py", "docs/a.md", "docs/img/b.png", "tests/a/m.py", "tests/n.py")),
        (Syntax.CODEOWNERS, "*", FILES),
        (Syntax.CODEOWNERS, "*.md", ("docs/a.md",)),
        (Syntax.CODEOWNERS, "docs/*", ("docs/a.md",)),
        (Syntax.CODEOWNERS, "docs/**", ("docs/a.md", "docs/img/b.png")),
        (Syntax.CODEOWNERS, "/docs", ("docs/a.md", "docs/img/b.png")),
        (Syntax.CODEOWNERS, "img/", ("docs/img/b.png",)),
        (Syntax.CODEOWNERS, "/img/", ()),
        (Syntax.CODEOWNERS, "**/sub", ("src/pkg/sub/c.py",)),
        (Syntax.CODEOWNERS, "/src/*/a.py", ("src/pkg/a.py",)),
    ],
)
def test_what_a_pattern_names(syntax: Syntax, pattern: str, named: tuple[str, ...]) -> None:
    assert tuple(filter(predicate(pattern, syntax), FILES)) == named


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("pkg", ("pkg/__init__.py",)),
        ("pkg.a", ("pkg/a.py",)),
        ("pkg.*", ("pkg/__init__.py", "pkg/a.py", "pkg/sub/c.pyi")),
        ("pkg.*.c", ("pkg/sub/c.pyi",)),
        ("pkg.su", ()),
    ],
)
def test_modules(pattern: str, named: tuple[str, ...]) -> None:
    files = ("pkg/__init__.py", "pkg/a.py", "pkg/data.txt", "pkg/sub/c.pyi", "other/a.py")
    assert tuple(filter(predicate(pattern, Syntax.MODULE), files)) == named


@pytest.mark.parametrize(
    ("pattern", "syntax", "path"),
    [
        ("./docs/", Syntax.PATH, "docs"),
        ("!docs/a.md", Syntax.GITIGNORE, "docs/a.md"),
        ("docs/*.md", Syntax.GLOB, None),
        (r"^docs/a\.md$", Syntax.REGEX, "docs/a.md"),
        ("^docs/", Syntax.REGEX, "docs"),
        ("^docs/.*$", Syntax.REGEX, "docs"),
        ("^(docs|src)/", Syntax.REGEX, None),
        ("verl.trainer.*", Syntax.MODULE, "verl/trainer"),
    ],
)
def test_literal(pattern: str, syntax: Syntax, path: str | None) -> None:
    assert literal(pattern, syntax) == path


@pytest.mark.parametrize(
    ("pattern", "syntax", "answer"),
    [
        ("*.ipynb", Syntax.RUFF, False),
        ("**/*_pb2.py", Syntax.RUFF, False),
        ("tests/*", Syntax.RUFF, True),
        ("conftest.py", Syntax.RUFF, True),
        (r"\.ipynb$", Syntax.REGEX, False),
        (r"^.*\.(png|svg)$", Syntax.REGEX, False),
        (r"_pb2\.pyi?$", Syntax.REGEX, False),
        ("^docs/", Syntax.REGEX, True),
        ("(^|/)vendored/", Syntax.REGEX, True),
        (r"setup\.py", Syntax.REGEX, True),
    ],
)
def test_a_kind_of_file_is_no_name(pattern: str, syntax: Syntax, answer: bool) -> None:
    assert names_something(pattern, syntax) is answer


WORDS = st.sampled_from(["a", "b.py", "docs", "*", "**", "x_*.sh", "q?"])


@given(st.lists(WORDS, min_size=1, max_size=4).map("/".join), st.sampled_from(list(Syntax)))
def test_samples_are_named_by_their_pattern(pattern: str, syntax: Syntax) -> None:
    if syntax.is_regex:
        pattern = pattern.replace(".", r"\.").replace("*", "[^/]*").replace("?", ".")
    assert all(predicate(pattern, syntax)(sample) for sample in samples(pattern, syntax))


@pytest.mark.parametrize(
    ("pattern", "syntax"),
    [
        ("docs", Syntax.PATH),
        ("docs/*", Syntax.GLOB),
        ("docs/**/*.md", Syntax.GITIGNORE),
        ("^docs/.*$", Syntax.REGEX),
        ("^docs/$", Syntax.FOLDER_REGEX),
        ("docs/*", Syntax.RUFF),
        ("docs/**", Syntax.RUFF_FILE),
        ("docs/*", Syntax.CODEOWNERS),
        ("docs.conf", Syntax.MODULE),
    ],
)
def test_an_easy_pattern_has_samples(pattern: str, syntax: Syntax) -> None:
    assert samples(pattern, syntax)


def test_samples_tell_an_anchored_pattern_from_one_that_is_not() -> None:
    assert all(predicate("docs/", Syntax.GITIGNORE)(path) for path in samples("/docs/", Syntax.GITIGNORE))
    assert not all(predicate("/docs/", Syntax.GITIGNORE)(path) for path in samples("docs/", Syntax.GITIGNORE))


PATHS = st.lists(st.sampled_from(["a", "b", "c.py", "docs"]), min_size=1, max_size=4).map("/".join)


@given(PATHS, st.lists(PATHS, max_size=8))
def test_a_plain_path_means_the_same_to_git_and_to_us(path: str, files: list[str]) -> None:
    anchored = predicate("/" + path, Syntax.GITIGNORE)
    assert list(filter(anchored, files)) == list(filter(predicate(path, Syntax.PATH), files))
    assert list(filter(anchored, files)) == list(filter(predicate("/" + path, Syntax.CODEOWNERS), files))
