"""SRC005: the share of annotated functions, in the whole tree and on changed lines."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from example_sanity.checks.sources.annotations import AnnotationCoverage
from example_sanity.testing import check_rule
from helpers import Write, cli

HALF = "def a(x: int) -> int: ...\ndef b(x, *, y: int): ...\n"


def found(text: str, **table: Any) -> list[str]:
    options = {"annotations": {"minimum": 1.0, **table}}
    return [item.message for item in check_rule(AnnotationCoverage, text, path="pkg/a.py", options=options)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "def a(x: int, *, y: int = 1, **kw: int) -> None: ...\n",
        "def _private(x): ...\n",
        "class C:\n    def __init__(self, x: int): ...\n    def m(self) -> int: ...\n",
        "def outer() -> None:\n    def inner(x): ...\n",
    ],
)
def test_what_is_annotated_private_or_inside_is_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("def f(x) -> int: ...\n", "f (x)"),
        ("def f(): ...\n", "f (its result)"),
        ("async def f(x): ...\n", "f (x, its result)"),
        ("def f(*, x) -> int: ...\n", "f (x)"),
        ("def f(x, /) -> int: ...\n", "f (x)"),
        ("def f(*args, **kw) -> int: ...\n", "f (args, kw)"),
        ("class C:\n    def __init__(self, x): ...\n", "__init__ (x)"),
        ("if True:\n    def f(): ...\n", "f (its result)"),
    ],
)
def test_every_parameter_and_the_result_need_one(text: str, bare: str) -> None:
    assert found(text) == [
        f"0 of 1 public functions have annotations (0%), and 100% are wanted: 1 more, such as {bare}"
    ]


def test_the_share_decides_and_assignments_do_not_raise_it() -> None:
    assert found(HALF, minimum=0.5) == []
    assert found(HALF + "x = 1\ny: int = 2\n" * 9, minimum=0.51) == [
        "1 of 2 public functions have annotations (50%), and 51% are wanted: 1 more, such as b (x, its result)"
    ]


def test_paths_and_exclude_choose_the_files() -> None:
    assert found("def f(): ...\n", paths=["/other/"]) == []
    assert found("def f(): ...\n", exclude=["/pkg/"]) == []


CONFIG = "[sources.annotations]\nchanged = 1.0\nsince = 'main'\n"
Capture = pytest.CaptureFixture[str]


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(write: Write) -> Path:
    root = write({"a.py": "def old(x): ...\n", "example-sanity.toml": CONFIG})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-qb", "work")
    return root


def test_only_functions_on_changed_lines_count(repository: Path, capsys: Capture) -> None:
    call = ("sources", str(repository), "--select", "SRC005", "--format", "concise")
    assert cli(capsys, *call)[0] == 0
    (repository / "a.py").write_text("def old(x): ...\n\n\ndef new(x): ...\n")

    code, out, _ = cli(capsys, *call)

    assert code == 1
    assert "a.py:4:5" in out
    assert "0 of 1 public functions changed since main have annotations" in out


def test_a_new_file_counts_and_so_does_a_commit(repository: Path, capsys: Capture) -> None:
    call = ("sources", str(repository), "--select", "SRC005")
    (repository / "b.py").write_text("def new(x): ...\n")
    assert cli(capsys, *call)[0] == 1
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    assert cli(capsys, *call)[0] == 1

    # The tree is the same, and what it is compared with is not.
    git(repository, "branch", "-f", "main", "work")
    assert cli(capsys, *call)[0] == 0


def test_a_revision_that_git_does_not_know_is_said(repository: Path, capsys: Capture) -> None:
    (repository / "example-sanity.toml").write_text(CONFIG.replace("main", "origin/main"))

    code, out, _ = cli(capsys, "sources", str(repository), "--select", "SRC005")

    assert code == 0
    assert "warning[SRC005]" in out
    assert "were not counted: git knows no revision 'origin/main'; fetch it first" in out
