"""Which findings stand on lines that changed since a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from example_sanity.core import changes
from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Finding, Span


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x", "--allow-empty")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("1\n2\n3\n4\n5\n")
    (tmp_path / "same.txt").write_text("1\n")
    commit(tmp_path)
    git(tmp_path, "tag", "start")
    return tmp_path


def at(path: str, line: int, end: int | None = None) -> Finding:
    return Finding("SPY001", "bad-word", "", path, Span(line, 1, end or line, 9))


def whole(path: str) -> Finding:
    return Finding("SPY001", "bad-word", "", path)


def test_nothing_changed(root: Path) -> None:
    found = changes.since(root, "start")

    assert not found.touch(at("a.txt", 2))
    assert not found.touch(whole("a.txt"))


def test_changed_lines_committed_or_not(root: Path) -> None:
    (root / "a.txt").write_text("1\n2\nthree\n4\n5\n")
    commit(root)
    (root / "a.txt").write_text("1\n2\nthree\n4\nfive\n")

    found = changes.since(root, "start")

    assert [line for line in range(1, 6) if found.touch(at("a.txt", line))] == [3, 5]
    assert found.touch(at("a.txt", 1, 3))
    assert not found.touch(Finding("SPY001", "", "", "a.txt", Span(1, 1, 3, 1)))
    assert found.touch(whole("a.txt"))
    assert not found.touch(whole("same.txt"))


def test_a_deletion_touches_its_neighbours(root: Path) -> None:
    (root / "a.txt").write_text("1\n2\n4\n5\n")

    found = changes.since(root, "start")

    assert [line for line in range(1, 5) if found.touch(at("a.txt", line))] == [2, 3]


@pytest.mark.parametrize("name", ["new.txt", "é.txt", 'q"uote.txt', "with space.txt", "sub/new.txt"])
@pytest.mark.parametrize("committed", [True, False])
def test_new_files_count_whole(root: Path, name: str, committed: bool) -> None:
    (root / "sub").mkdir()
    (root / name).write_text("1\n2\n")
    if committed:
        commit(root)

    found = changes.since(root, "start")

    assert found.touch(at(name, 2))
    assert found.touch(whole(name))


def test_a_renamed_file_counts_where_it_changed(root: Path) -> None:
    (root / "a.txt").rename(root / "b.txt")
    (root / "b.txt").write_text("1\n2\n3\n4\nfive\n")
    (root / "same.txt").rename(root / "moved.txt")
    commit(root)

    found = changes.since(root, "start")

    assert [line for line in range(1, 6) if found.touch(at("b.txt", line))] == [5]
    assert found.touch(whole("moved.txt"))


def test_what_the_other_branch_changed_is_not_ours(root: Path) -> None:
    git(root, "checkout", "-qb", "other")
    (root / "same.txt").write_text("other\n")
    commit(root)
    git(root, "checkout", "-q", "-")
    (root / "a.txt").write_text("one\n2\n3\n4\n5\n")
    commit(root)

    found = changes.since(root, "other")

    assert found.touch(at("a.txt", 1))
    assert not found.touch(whole("same.txt"))


def test_a_project_below_the_checkout(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/b.txt").write_text("1\n")
    commit(root)

    assert changes.since(root / "sub", "start").touch(at("b.txt", 1))


def test_bad_calls(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(UsageError, match="git knows no revision 'nowhere'; fetch it first"):
        changes.since(root, "nowhere")
    with pytest.raises(UsageError, match="git knows no revision '--output=x'"):
        changes.since(root, "--output=x")
    with pytest.raises(UsageError, match="needs a git checkout"):
        changes.since(tmp_path_factory.mktemp("none"), "HEAD")
    git(root, "checkout", "-q", "--orphan", "lone")
    (root / "a.txt").write_text("other\n")
    commit(root)
    with pytest.raises(UsageError, match="no common commit; a shallow clone must be deepened"):
        changes.since(root, "start")
