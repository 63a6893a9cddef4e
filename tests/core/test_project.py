"""Discovery: git's view of files, folders without git, excludes, odd files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from example_sanity.core.errors import Uninspectable, UsageError
from example_sanity.core.project import Project, find_root
from helpers import Write


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def test_git_decides_where_there_is_git(write: Write) -> None:
    root = write({".gitignore": "out/\n", "a.sh": "", "out/b.sh": "", "new.sh": "", "gone.sh": ""})
    _git(root, "init", "-q")
    _git(root, "add", "a.sh", "gone.sh")
    (root / "gone.sh").unlink()

    assert Project(root).all_files == (".gitignore", "a.sh", "new.sh")


def test_the_folder_decides_where_there_is_none(write: Write) -> None:
    root = write({"b/x.sh": "", "a.sh": "", "__pycache__/c.sh": ""})

    assert Project(root).all_files == ("a.sh", "b/x.sh")
    assert {"", "b"} == Project(root).folders


def test_include_and_exclude_are_gitignore_patterns(write: Write) -> None:
    root = write({"examples/a.sh": "", "examples/old/b.sh": "", "tests/c.sh": ""})
    project = Project(root, exclude=["old/"], include=["/examples"])

    assert project.files == ("examples/a.sh",)
    assert project.is_excluded("tests/c.sh")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.sh", "", True),
        ("a.slurm", "", True),
        ("a.py", "#!/bin/bash", False),
        ("launch", "#!/usr/bin/env bash\n", True),
        ("launch", "#!/bin/sh -e\n", True),
        ("launch", "#!/usr/bin/env -S bash -x\n", True),
        ("launch", "#!/usr/bin/env python3\n", False),
        ("launch", "", False),
    ],
)
def test_what_a_shell_script_is(write: Write, name: str, content: str, expected: bool) -> None:
    assert expected is Project(write({name: content})).is_shell(name)


def test_what_cannot_be_read_says_why(write: Write) -> None:
    root = write({"bytes.sh": b"echo \xff\n", "nul.sh": b"echo \0\n"})
    (root / "broken.sh").symlink_to("nowhere")
    project = Project(root)

    for name, code, words in [
        ("broken.sh", "SYS001", "No such file"),
        ("bytes.sh", "SYS002", "byte 0xff at offset 5"),
        ("nul.sh", "SYS002", "NUL byte at offset 5"),
    ]:
        with pytest.raises(Uninspectable, match=words) as caught:
            project.text(name)
        assert code == caught.value.code


def test_the_root_is_the_configured_folder_or_the_checkout(write: Write) -> None:
    root = write(
        {"repo/sub/pyproject.toml": "[tool.example-sanity]\n", "repo/sub/x/a.sh": "", "repo/y/b.sh": ""}
    )
    (root / "repo/.git").mkdir()

    assert root / "repo/sub" == find_root([root / "repo/sub/x/a.sh"])
    assert root / "repo" == find_root([root / "repo/y"])
    assert root / "repo" == find_root([root / "repo/y", root / "repo/sub/x"])


def test_without_a_mark_the_current_folder_is_the_root(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"examples/a.sh": "", "elsewhere/b.sh": ""})
    monkeypatch.chdir(root)

    assert find_root([Path("examples")]) == root
    monkeypatch.chdir(root / "elsewhere")
    assert find_root([root / "examples"]) == root / "examples"


def test_a_path_outside_the_root_is_a_usage_error(write: Write) -> None:
    project = Project(write({"in/a.sh": ""}) / "in")

    assert project.relative(project.root / "a.sh") == "a.sh"
    with pytest.raises(UsageError, match="outside the project"):
        project.relative(Path("/etc/passwd"))


def test_what_tools_keep_for_themselves_is_no_file_of_a_folder_without_git(write: Write) -> None:
    root = write(
        {"a.md": "", ".pytest_cache/README.md": "", ".ruff_cache/x.md": "", "sub/.hypothesis/y.md": ""}
    )
    assert Project(root).all_files == ("a.md",)
