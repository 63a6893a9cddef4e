"""Git repositories for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return what it prints."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *identity, "-C", folder, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, message: str) -> str:
    """Commit everything in a folder and return the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")
