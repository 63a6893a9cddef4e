"""Where a project stands in its checkout, and on which service."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.report.ci import prefix, source_url


def test_a_project_outside_git_or_at_the_top_has_no_prefix(tmp_path: Path) -> None:
    assert prefix(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    assert prefix(tmp_path) == ""


def test_a_project_in_a_folder_is_named_from_the_top(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "a/b").mkdir(parents=True)

    assert prefix(tmp_path / "a/b") == "a/b/"


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, ""),
        ({"GITHUB_REPOSITORY": "o/r"}, ""),
        ({"GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "abc"}, "https://github.com/o/r/blob/abc/"),
        (
            {"GITHUB_SERVER_URL": "https://ghe", "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "abc"},
            "https://ghe/o/r/blob/abc/",
        ),
        ({"CI_PROJECT_URL": "https://gl/g/p", "CI_COMMIT_SHA": "abc"}, "https://gl/g/p/-/blob/abc/"),
    ],
)
def test_source_url(environment: dict[str, str], url: str) -> None:
    assert source_url(environment) == url
