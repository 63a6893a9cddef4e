"""Where a project stands: in its checkout, and on the service that runs us."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def prefix(root: Path) -> str:
    """Return the way from the top of the git checkout to ``root``: "" at the top or outside git, else "folder/"."""
    # A worktree and a submodule have a file .git, not a folder.
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return "" if top == root else f"{root.relative_to(top).as_posix()}/"


def source_url(environment: Mapping[str, str]) -> str:
    """Return the URL that a path of the checked commit is appended to on GitHub or GitLab, "" elsewhere."""
    get = environment.get
    if get("GITHUB_REPOSITORY") and get("GITHUB_SHA"):
        server = get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{get('GITHUB_REPOSITORY')}/blob/{get('GITHUB_SHA')}/"
    if get("CI_PROJECT_URL") and get("CI_COMMIT_SHA"):
        return f"{get('CI_PROJECT_URL')}/-/blob/{get('CI_COMMIT_SHA')}/"
    return ""
